/* trace.c: --time-trace: Chrome's trace event format, which Perfetto and chrome://tracing open.
 *
 * Source of the format: "Trace Event Format", a document published by Chromium's catapult project.
 * It uses complete events (ph X: ts, dur), counters (C) and names of rows (M); times are
 * microseconds. Slices of a row nest, which events.h ensures. */
#include <string.h>

#include "base/search.h"
#include "diag/json_tree.h"
#include "observe/internal.h"

#define PROCESS 1u /* every event needs a process; the number is arbitrary */

struct tracing {
    struct observation *seen;
    json_t *list;
};

static json_t *begin_event(struct tracing *tracing, const char *phase, const char *name,
                           uint32_t row)
{
    json_t *event = json_tree_push(tracing->list, json_object());

    json_tree_set_string(event, "ph", phase);
    json_tree_set_number(event, "pid", PROCESS);
    json_tree_set_number(event, "tid", row);
    json_tree_set_string(event, "name", name);
    return event;
}

static void set_time(const struct tracing *tracing, json_t *event, uint64_t time)
{
    json_tree_set(event, "ts", json_real((double)(time - tracing->seen->start) / 1e3));
}

static void put_trace_rows(struct tracing *tracing)
{
    json_t *event = begin_event(tracing, "M", "process_name", 0);

    json_tree_set_string(json_tree_set(event, "args", json_object()), "name", "minilink");
    for (uint32_t i = 0; i < tracing->seen->events.row_count; i++) {
        event = begin_event(tracing, "M", "thread_name", i);
        json_tree_set_string(json_tree_set(event, "args", json_object()), "name",
                             tracing->seen->events.rows[i].name);
        event = begin_event(tracing, "M", "thread_sort_index", i);
        json_tree_set_number(json_tree_set(event, "args", json_object()), "sort_index", i);
    }
}

static void put_chunk(struct tracing *tracing, json_t *arguments, uint32_t index)
{
    const struct observation *seen = tracing->seen;
    const struct fact_chunk *chunk = &seen->chunks[index];
    json_t *kernels = json_tree_set(arguments, "kernels", json_array());

    for (uint32_t i = chunk->first_kernel; i != FACT_NONE; i = seen->symbols[i].next_kernel)
        json_tree_push(kernels, json_tree_text(seen->symbols[i].own_name));
    json_tree_set_number(arguments, "functions", chunk->function_count);
    json_tree_set_number(arguments, "cubin bytes", chunk->cubin_bytes);
    json_tree_set_number(arguments, "weight", chunk->weight);
    json_tree_set_milliseconds(arguments, "estimate ms", chunk->estimate);
    json_tree_set_milliseconds(arguments, "ms", chunk->nanoseconds);
}

static void put_stage(struct tracing *tracing, json_t *arguments, struct text name)
{
    const struct timing *timing = &tracing->seen->timing;

    for (size_t i = 0; i < timing->count; i++) {
        const struct timing_row *row = &timing->rows[i];

        if (!text_equal(name, text_of(row->stage)))
            continue;
        if (row->work.unit)
            json_tree_set_number(arguments, row->work.unit, row->work.items);
        json_tree_set_number(arguments, "peak memory", row->peak_memory);
    }
}

static void put_counter(struct tracing *tracing, const char *name, uint64_t time, uint64_t value)
{
    json_t *event = begin_event(tracing, "C", name, 0);

    set_time(tracing, event, time);
    json_tree_set_number(json_tree_set(event, "args", json_object()), name, value);
}

static void put_event(struct tracing *tracing, const struct logged_event *logged)
{
    const struct event *event = &logged->event;
    json_t *slice, *arguments;

    if (strcmp(event->kind, EVENT_STAGE) != 0 && strcmp(event->kind, EVENT_CHUNK) != 0 &&
        (event->end - event->start) / 1000 < tracing->seen->request.granularity)
        return;
    slice = begin_event(tracing, "X", NULL, logged->row);
    json_tree_set_text(slice, "name", facts_name(tracing->seen, event->name));
    json_tree_set_string(slice, "cat", event->kind);
    set_time(tracing, slice, event->start);
    json_tree_set(slice, "dur", json_real((double)(event->end - event->start) / 1e3));
    arguments = json_tree_set(slice, "args", json_object());
    if (event->bytes)
        json_tree_set_number(arguments, "bytes", event->bytes);
    if (event->peak)
        json_tree_set_number(arguments, "peak", event->peak);
    if (event->phase)
        json_tree_set_number(arguments, "phase", event->phase);
    json_tree_set_string(arguments, "state", event->state);
    if (strcmp(event->kind, EVENT_CHUNK) == 0 && event->chunk &&
        event->chunk <= tracing->seen->chunk_count)
        put_chunk(tracing, arguments, event->chunk - 1);
    if (strcmp(event->kind, EVENT_STAGE) == 0)
        put_stage(tracing, arguments, event->name);
}

/* The beginning or end of a chunk. */
struct edge {
    uint64_t time;
    bool is_end;
};

/* At the same time, ends come before beginnings. */
COMPARISON(by_time, struct edge, COMPARE(a->time, b->time) ?: COMPARE(b->is_end, a->is_end));

static void put_running(struct tracing *tracing)
{
    const struct events *events = &tracing->seen->events;
    struct edge *edges = arena_alloc(&tracing->seen->arena, 2 * events->count, sizeof *edges);
    size_t count = 0;
    uint64_t running = 0;

    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i].event;

        if (strcmp(event->kind, EVENT_CHUNK) != 0)
            continue;
        edges[count++] = (struct edge){event->start, false};
        edges[count++] = (struct edge){event->end, true};
    }
    SORT(edges, count, by_time);
    for (size_t i = 0; i < count; i++) {
        running += edges[i].is_end ? UINT64_MAX : 1;
        put_counter(tracing, "running", edges[i].time, running);
    }
}

void trace_print(struct observation *seen, struct buffer *out)
{
    const struct events *events = facts_events(seen);
    json_t *root = json_tree_begin();
    struct tracing tracing = {.seen = seen};

    CONTEXT_DEFER(json_tree_end, root);
    json_tree_set_string(root, "displayTimeUnit", "ms");
    tracing.list = json_tree_set(root, "traceEvents", json_array());
    put_trace_rows(&tracing);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i].event;

        if (strcmp(event->kind, EVENT_COUNTER) == 0)
            put_counter(&tracing, arena_string(&seen->arena, event->name), event->start,
                        event->bytes);
        else
            put_event(&tracing, &events->list[i]);
    }
    put_running(&tracing);
    json_tree_print(root, JSON_TREE_COMPACT, out);
    buffer_char(out, '\n');
}
