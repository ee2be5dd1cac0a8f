/* events.c: one list of all events, and how threads and kinds become rows.
 *
 * Threads of successive pools have the same numbers, and share a row. Events outside of threads are
 * laid out so that no two that overlap share a row, as readers of traces require. */
#include "diag/events.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/search.h"
#include "diag/diag.h"
#include "os/machine.h"

struct node {
    struct node *next;
    struct event event;
    struct event_thread thread;
    char name[]; /* the event's */
};

struct event_log {
    _Atomic(struct node *) newest;
    _Atomic uint32_t threads; /* that have recorded */
    _Atomic size_t lost;
    uint64_t start;
};

struct event_log *events_open(void)
{
    struct diag_state *state = diag_state_get();
    struct event_log *log = calloc(1, sizeof *log);

    if (!log)
        return NULL;
    log->start = clock_now();
    state->events = log;
    state->event_thread = (struct event_thread){0};
    state->event_chunk = 0;
    return log;
}

void events_close(struct event_log *log)
{
    struct diag_state *state = diag_state_get();

    if (!log)
        return;
    if (state->events == log)
        state->events = NULL;
    for (struct node *node = log->newest, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    free(log);
}

bool events_are_on(void)
{
    return diag_state_get()->events != NULL;
}

uint64_t events_clock(void)
{
    return events_are_on() ? clock_now() : 0;
}

/* Workers of a pool have names with their numbers (pool.c). */
static uint32_t worker_number(void)
{
    char name[17] = "";
    uint32_t number;

    prctl(PR_GET_NAME, name);
    return sscanf(name, "minilink-%" SCNu32, &number) == 1 ? number : 0;
}

void events_record(const struct event *event)
{
    struct diag_state *state = diag_state_get();
    struct event_log *log = state->events;
    struct node *node = log ? malloc(sizeof *node + event->name.size) : NULL;

    if (!node) {
        if (log)
            log->lost++;
        return;
    }
    if (!state->event_thread.number)
        state->event_thread = (struct event_thread){++log->threads, worker_number()};
    *node = (struct node){.event = *event, .thread = state->event_thread};
    if (event->name.size)
        memcpy(node->name, event->name.data, event->name.size);
    node->event.name.data = node->name;
    node->event.phase = state->phase;
    if (node->event.end == 0)
        node->event.end = clock_now();
    if (node->event.chunk == 0)
        node->event.chunk = state->event_chunk;
    node->next = log->newest;
    while (!atomic_compare_exchange_weak(&log->newest, &node->next, node))
        ;
}

void events_count(const char *name, uint64_t value)
{
    uint64_t now = events_clock();

    if (now)
        events_record(&(struct event){.kind = EVENT_COUNTER,
                                      .name = text_of(name),
                                      .start = now,
                                      .end = now,
                                      .bytes = value});
}

void events_count_memory(void)
{
    uint64_t resident = events_are_on() ? heap_use().resident : 0;

    if (resident > 0)
        events_count("memory", resident);
}

void events_chunk(uint32_t index)
{
    struct diag_state *state = diag_state_get();

    if (state->events)
        state->event_chunk = index + 1; /* 0 for EVENTS_NO_CHUNK */
}

/* A row while it is filled. */
struct row {
    const char *kind; /* of events outside of threads; "" = of a thread */
    uint32_t worker;  /* its number, or 0 */
    uint64_t end;     /* of its last event */
};

struct reading {
    struct arena *arena;
    struct events *events;
    struct row *rows; /* as many as events->rows, and their names */
    size_t row_capacity, name_capacity;
};

static const char *row_name(struct arena *arena, const struct row *row, unsigned copy)
{
    if (*row->kind)
        return arena_printf(arena, "%s %u", row->kind, copy + 1);
    if (row->worker == 0)
        return copy ? arena_printf(arena, "thread %u", copy) : "link";
    return copy ? arena_printf(arena, "worker %u (%u)", row->worker, copy + 1)
                : arena_printf(arena, "worker %u", row->worker);
}

/* The first such row that is free at `start`; it is taken until `end`. Rows that are alike are
 * asked for one after the other. */
static uint32_t take_row(struct reading *reading, const char *kind, uint32_t worker, uint64_t start,
                         uint64_t end)
{
    const struct row wanted = {kind, worker, end};
    struct events *events = reading->events;
    size_t count = events->row_count, first = count;

    while (first > 0 && reading->rows[first - 1].worker == worker &&
           strcmp(reading->rows[first - 1].kind, kind) == 0)
        first--;
    for (size_t i = first; i < count; i++)
        if (reading->rows[i].end <= start) {
            RAISE(reading->rows[i].end, end);
            return (uint32_t)i;
        }
    ARENA_PUSH(reading->arena, reading->rows, count, reading->row_capacity) = wanted;
    ARENA_PUSH(reading->arena, events->rows, events->row_count, reading->name_capacity) =
        (struct event_row){row_name(reading->arena, &wanted, (unsigned)(count - 1 - first)),
                           worker > 0};
    return (uint32_t)count - 1;
}

/* What a thread did, from its first event to its last. */
struct thread {
    uint32_t number, worker;
    uint64_t first, last;
};

COMPARISON(by_worker, struct thread,
           COMPARE(a->worker, b->worker) ?: COMPARE(a->number, b->number));

COMPARISON(by_start, struct logged_event,
           COMPARE(a->event.start, b->event.start) ?: COMPARE(b->event.end, a->event.end)
               ?: COMPARE(a->row, b->row));

static int by_kind(const void *left, const void *right)
{
    const struct logged_event *a = left, *b = right;

    return strcmp(a->event.kind, b->event.kind) ?: by_start(a, b);
}

/* Gives each thread a row, the oldest thread first, so that pools follow each other; then each
 * event apart from threads. */
static void take_rows(struct reading *reading, const struct event_log *log)
{
    struct events *events = reading->events;
    struct thread *threads = arena_zalloc(reading->arena, log->threads, sizeof *threads);
    uint32_t *row_of = arena_zalloc(reading->arena, log->threads + 1, sizeof *row_of);

    for (const struct node *node = log->newest; node; node = node->next) {
        struct thread *thread = &threads[node->thread.number - 1];

        thread->number = node->thread.number;
        thread->worker = node->thread.worker;
        if (node->event.is_apart)
            continue;
        if (!thread->last || node->event.start < thread->first)
            thread->first = node->event.start;
        RAISE(thread->last, node->event.end);
    }
    SORT(threads, log->threads, by_worker);
    for (uint32_t i = 0; i < log->threads; i++)
        row_of[threads[i].number] =
            take_row(reading, "", threads[i].worker,
                     threads[i].last ? threads[i].first : UINT64_MAX, threads[i].last);
    SORT(events->list, events->count, by_kind);
    for (size_t i = 0; i < events->count; i++) {
        struct logged_event *logged = &events->list[i];

        logged->row = logged->event.is_apart ? take_row(reading, logged->event.kind, 0,
                                                        logged->event.start, logged->event.end)
                                             : row_of[logged->row];
    }
    SORT(events->list, events->count, by_start);
}

void events_read(const struct event_log *log, struct arena *arena, struct events *events)
{
    struct reading reading = {.arena = arena, .events = events};
    size_t at = 0;

    *events = (struct events){.start = log->start, .lost = log->lost};
    for (const struct node *node = log->newest; node; node = node->next)
        events->count++;
    events->list = arena_alloc(arena, events->count, sizeof *events->list);
    for (const struct node *node = log->newest; node; node = node->next)
        events->list[events->count - ++at] =
            (struct logged_event){node->event, node->thread.number};
    take_rows(&reading, log);
}
