/* events.c: lists of events by thread, and how they become rows.
 *
 * Threads of successive pools have the same numbers, and share a row. Events outside of threads are
 * laid out so that no two that overlap share a row, as readers of traces require. */
#include "diag/events.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/search.h"
#include "diag/diag.h"
#include "os/heap.h"

struct node {
    struct node *next;
    struct event event;
    char name[]; /* the event's */
};

/* The events of one thread, which alone writes to them. */
struct event_thread {
    struct event_thread *next;
    struct node *first, *last;
    unsigned worker; /* its number in its pool; 0 = no worker */
    size_t lost;
};

struct event_log {
    _Atomic(struct event_thread *) threads; /* newest first */
    _Atomic size_t lost;                    /* events of threads without memory for a list */
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
    state->event_thread = NULL;
    state->event_chunk = 0;
    return log;
}

void events_close(struct event_log *log)
{
    struct diag_state *state = diag_state_get();
    struct event_thread *thread, *next_thread;

    if (!log)
        return;
    if (state->events == log) {
        state->events = NULL;
        state->event_thread = NULL;
    }
    for (thread = atomic_load(&log->threads); thread; thread = next_thread) {
        next_thread = thread->next;
        for (struct node *node = thread->first, *next; node; node = next) {
            next = node->next;
            free(node);
        }
        free(thread);
    }
    free(log);
}

static struct event_log *log_of(const struct diag_state *state)
{
    return state ? state->events : NULL;
}

bool events_are_on(void)
{
    return log_of(diag_state_open()) != NULL;
}

uint64_t events_clock(void)
{
    return events_are_on() ? clock_now() : 0;
}

/* Workers of a pool have names with their numbers (pool.c). */
static unsigned own_number(void)
{
    char name[17] = "";
    unsigned number;

    prctl(PR_GET_NAME, name);
    return sscanf(name, "minilink-%u", &number) == 1 ? number : 0;
}

static struct event_thread *own_thread(struct diag_state *state)
{
    struct event_log *log = state->events;
    struct event_thread *thread = state->event_thread;

    if (thread)
        return thread;
    thread = calloc(1, sizeof *thread);
    if (!thread) {
        atomic_fetch_add(&log->lost, 1);
        return NULL;
    }
    thread->worker = own_number();
    thread->next = atomic_load(&log->threads);
    while (!atomic_compare_exchange_weak(&log->threads, &thread->next, thread))
        ;
    state->event_thread = thread;
    return thread;
}

void events_record(const struct event *event)
{
    struct diag_state *state = diag_state_open();
    struct event_thread *thread = log_of(state) ? own_thread(state) : NULL;
    struct node *node = thread ? malloc(sizeof *node + event->name.size) : NULL;

    if (!node) {
        if (thread)
            thread->lost++;
        return;
    }
    *node = (struct node){.event = *event};
    if (event->name.size)
        memcpy(node->name, event->name.data, event->name.size);
    node->event.name.data = node->name;
    node->event.phase = state->phase;
    if (node->event.end == 0)
        node->event.end = clock_now();
    if (node->event.chunk == 0)
        node->event.chunk = state->event_chunk;
    if (thread->last)
        thread->last->next = node;
    else
        thread->first = node;
    thread->last = node;
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
    struct diag_state *state = diag_state_open();

    if (log_of(state))
        state->event_chunk = index + 1; /* 0 for EVENTS_NO_CHUNK */
}

/* A row while it is filled. */
struct row {
    const char *kind; /* of events outside of threads; NULL = a thread's row */
    unsigned number;  /* the worker's; otherwise a number within its kind */
    unsigned copy;    /* which of several workers with that number at the same time */
    uint64_t end;     /* of its last event */
    uint32_t place;   /* among all rows, sorted */
};

struct reading {
    struct arena *arena;
    struct events *events;
    struct row *rows;
    size_t row_capacity;
};

/* The first row of that kind and number that is free at `start`; it is taken until `end`. For
 * events outside of threads the number is ignored. */
static uint32_t take_row(struct reading *reading, const char *kind, unsigned number, uint64_t start,
                         uint64_t end)
{
    size_t *count = &reading->events->row_count;
    unsigned same = 0;

    for (uint32_t i = 0; i < *count; i++) {
        struct row *row = &reading->rows[i];

        if (row->kind != kind && !(row->kind && kind && strcmp(row->kind, kind) == 0))
            continue;
        if (!kind && row->number != number)
            continue;
        same++;
        if (row->end > start)
            continue;
        row->end = end;
        return i;
    }
    ARENA_PUSH(reading->arena, reading->rows, *count, reading->row_capacity) =
        (struct row){.kind = kind, .number = kind ? same + 1 : number, .copy = same, .end = end};
    return (uint32_t)*count - 1;
}

static void read_thread(struct reading *reading, const struct event_thread *thread)
{
    struct events *events = reading->events;
    uint64_t first = UINT64_MAX, last = 0;
    uint32_t row;

    for (const struct node *node = thread->first; node; node = node->next) {
        if (node->event.is_apart)
            continue;
        first = node->event.start < first ? node->event.start : first;
        last = node->event.end > last ? node->event.end : last;
    }
    row = take_row(reading, NULL, thread->worker, first, last);
    for (const struct node *node = thread->first; node; node = node->next) {
        struct logged_event *to = &events->list[events->count++];

        *to = (struct logged_event){node->event, row};
        to->event.name = arena_text(reading->arena, node->event.name);
    }
    events->lost += thread->lost;
}

COMPARISON(by_start, struct logged_event,
           COMPARE(a->event.start, b->event.start) ?: COMPARE(b->event.end, a->event.end)
               ?: COMPARE(a->row, b->row));

static void place_apart(struct reading *reading)
{
    for (size_t i = 0; i < reading->events->count; i++) {
        struct logged_event *logged = &reading->events->list[i];
        const struct event *event = &logged->event;

        if (event->is_apart)
            logged->row = take_row(reading, event->kind, 0, event->start, event->end);
    }
}

static int by_event_place(const void *left, const void *right)
{
    const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
    int kinds = a->kind && b->kind ? strcmp(a->kind, b->kind) : !!a->kind - !!b->kind;

    if (kinds)
        return kinds;
    return COMPARE(a->number, b->number) ?: COMPARE(a->copy, b->copy);
}

static const char *row_name(struct arena *arena, const struct row *row)
{
    if (row->kind)
        return arena_printf(arena, "%s %u", row->kind, row->number);
    if (row->number == 0)
        return row->copy ? arena_printf(arena, "thread %u", row->copy) : "link";
    return row->copy ? arena_printf(arena, "worker %u (%u)", row->number, row->copy + 1)
                     : arena_printf(arena, "worker %u", row->number);
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
        events->rows[i].is_worker = !order[i]->kind && order[i]->number > 0;
        order[i]->place = (uint32_t)i;
    }
    for (size_t i = 0; i < events->count; i++)
        events->list[i].row = reading->rows[events->list[i].row].place;
}

void events_read(const struct event_log *log, struct arena *arena, struct events *events)
{
    struct reading reading = {.arena = arena, .events = events};
    size_t count = 0, threads = 0, at = 0;
    const struct event_thread **order;

    *events = (struct events){.start = log->start, .lost = atomic_load(&log->lost)};
    for (const struct event_thread *t = atomic_load(&log->threads); t; t = t->next, threads++)
        for (const struct node *node = t->first; node; node = node->next)
            count++;
    events->list = arena_alloc(arena, count, sizeof *events->list);
    order = arena_alloc(arena, threads, sizeof(const struct event_thread *));
    /* Oldest first, so that pools follow each other. */
    for (const struct event_thread *t = atomic_load(&log->threads); t; t = t->next)
        order[threads - ++at] = t;
    for (size_t i = 0; i < threads; i++)
        read_thread(&reading, order[i]);
    SORT(events->list, count, by_start);
    place_apart(&reading);
    sort_rows(&reading);
}
