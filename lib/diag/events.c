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
    unsigned copy;    /* how many such rows were taken at the same time */
    uint64_t end;     /* of its last event */
    uint32_t place;   /* among all rows, sorted */
};

struct reading {
    struct arena *arena;
    struct events *events;
    struct row *rows;
    size_t row_capacity;
};

/* The first such row that is free at `start`; it is taken until `end`. */
static uint32_t take_row(struct reading *reading, const char *kind, uint32_t worker, uint64_t start,
                         uint64_t end)
{
    size_t *count = &reading->events->row_count;
    unsigned copy = 0;

    for (uint32_t i = 0; i < *count; i++) {
        struct row *row = &reading->rows[i];

        if (row->worker != worker || strcmp(row->kind, kind) != 0)
            continue;
        if (row->end <= start) {
            RAISE(row->end, end);
            return i;
        }
        copy++;
    }
    ARENA_PUSH(reading->arena, reading->rows, *count, reading->row_capacity) =
        (struct row){.kind = kind, .worker = worker, .copy = copy, .end = end};
    return (uint32_t)*count - 1;
}

COMPARISON(by_start, struct logged_event,
           COMPARE(a->event.start, b->event.start) ?: COMPARE(b->event.end, a->event.end)
               ?: COMPARE(a->row, b->row));

/* Gives each thread a row from its first event to its last, the oldest thread first, so that pools
 * follow each other; then each event apart from threads. */
static void take_rows(struct reading *reading, const struct event_log *log)
{
    struct events *events = reading->events;
    struct {
        uint32_t worker, row;
        uint64_t first, last;
    } *threads = arena_zalloc(reading->arena, log->threads + 1, sizeof *threads);

    for (const struct node *node = log->newest; node; node = node->next) {
        uint32_t number = node->thread.number;

        threads[number].worker = node->thread.worker;
        if (node->event.is_apart)
            continue;
        if (!threads[number].last || node->event.start < threads[number].first)
            threads[number].first = node->event.start;
        RAISE(threads[number].last, node->event.end);
    }
    for (uint32_t i = 1; i <= log->threads; i++)
        threads[i].row = take_row(reading, "", threads[i].worker,
                                  threads[i].last ? threads[i].first : UINT64_MAX, threads[i].last);
    for (size_t i = 0; i < events->count; i++)
        events->list[i].row = threads[events->list[i].row].row;
    SORT(events->list, events->count, by_start);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i].event;

        if (event->is_apart)
            events->list[i].row = take_row(reading, event->kind, 0, event->start, event->end);
    }
}

static int by_event_place(const void *left, const void *right)
{
    const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;

    return strcmp(a->kind, b->kind) ?: COMPARE(a->worker, b->worker) ?: COMPARE(a->copy, b->copy);
}

static const char *row_name(struct arena *arena, const struct row *row)
{
    if (*row->kind)
        return arena_printf(arena, "%s %u", row->kind, row->copy + 1);
    if (row->worker == 0)
        return row->copy ? arena_printf(arena, "thread %u", row->copy) : "link";
    return row->copy ? arena_printf(arena, "worker %u (%u)", row->worker, row->copy + 1)
                     : arena_printf(arena, "worker %u", row->worker);
}

static void sort_rows(struct reading *reading)
{
    struct events *events = reading->events;
    struct row **order = arena_alloc(reading->arena, events->row_count, sizeof *order);

    for (size_t i = 0; i < events->row_count; i++)
        order[i] = &reading->rows[i];
    SORT(order, events->row_count, by_event_place);
    events->rows = arena_zalloc(reading->arena, events->row_count, sizeof *events->rows);
    for (size_t i = 0; i < events->row_count; i++) {
        events->rows[i].name = row_name(reading->arena, order[i]);
        events->rows[i].is_worker = order[i]->worker > 0;
        order[i]->place = (uint32_t)i;
    }
    for (size_t i = 0; i < events->count; i++)
        events->list[i].row = reading->rows[events->list[i].row].place;
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
    sort_rows(&reading);
}
