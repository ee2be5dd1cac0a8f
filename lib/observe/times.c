/* times.c: -time: nvlink's table (measured), with rows for minilink's stages.
 *
 *     source file name , phase name , phase input files , phase output file ,
 *         arch , tool, metric , unit
 *
 * One row per stage, with its inputs; two per compilation of LTO-IR, the second with its memory;
 * one per chunk, with its kernels; per worker, with its chunks; and per function that the built-in
 * assembler compiled. Lists have blanks between their items; a blank or comma inside a name is
 * spelled out. */
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/search.h"
#include "diag/escape.h"
#include "observe/facts.h"

/* A row that is being built. */
struct row {
    const struct observation *observation;
    struct buffer *out;
    bool has_items;
};

static void put_csv_name(struct buffer *out, struct text name)
{
    struct buffer shown = {0};

    CONTEXT_DEFER(buffer_cleanup, &shown);
    escape_text(name, &shown);
    for (size_t i = 0; i < shown.size; i++) {
        if (shown.data[i] == ',' || shown.data[i] == ' ')
            buffer_printf(out, "\\x%02x", (unsigned)shown.data[i]);
        else
            buffer_char(out, shown.data[i]);
    }
}

static void begin_row(struct row *row, const char *source, const char *phase)
{
    buffer_printf(row->out, "%s , %s , ", source, phase);
    row->has_items = false;
}

static void put_item(struct row *row, struct text item)
{
    if (row->has_items)
        buffer_char(row->out, ' ');
    row->has_items = true;
    put_csv_name(row->out, item);
}

static void end_with(const struct row *row, const char *output, double value, const char *unit)
{
    char arch[ARCH_NAME_SIZE];

    buffer_string(row->out, " , ");
    if (output)
        put_csv_name(row->out, text_of(output));
    buffer_printf(row->out, " , %s , minilink , %.4f , %s\n",
                  arch_name(row->observation->arch, arch), value, unit);
}

static void end_row(const struct row *row, const char *output, uint64_t nanoseconds)
{
    end_with(row, output, (double)nanoseconds / 1e6, "ms");
}

static void put_member_names(struct row *row, enum member_role role)
{
    const struct observation *observation = row->observation;

    for (size_t i = 0; i < observation->member_count; i++)
        if (observation->members[i].of->role == role)
            put_item(row, text_of(observation->members[i].of->name));
}

static void put_chunks(struct row *row, const char *suffix)
{
    char name[64];

    for (size_t i = 0; i < row->observation->chunk_count; i++) {
        snprintf(name, sizeof name, "chunk-%zu.%s", i, suffix);
        put_item(row, text_of(name));
    }
}

static void put_inputs(struct row *row, const char *stage)
{
    const struct observation *observation = row->observation;

    if (strcmp(stage, "open") == 0)
        for (size_t i = 0; i < observation->link.inputs->count; i++)
            put_item(row, text_of(observation->link.inputs->files[i].path));
    else if (strcmp(stage, "select") == 0)
        for (size_t i = 0; i < observation->member_count; i++) {
            const struct fact_member *member = &observation->members[i];

            if (member->of->role != MEMBER_UNUSED && !member->is_made)
                put_item(row, text_of(member->of->name));
        }
    else if (strcmp(stage, "lto") == 0)
        put_member_names(row, MEMBER_LTO);
    else if (strcmp(stage, "agree") == 0) {
        for (size_t i = 0; i < observation->member_count; i++)
            if (fact_member_has_options(&observation->members[i]))
                put_item(row, text_of(observation->members[i].of->name));
    } else if (strcmp(stage, "link") == 0 || strcmp(stage, "split") == 0) {
        put_member_names(row, MEMBER_PTX);
        if (strcmp(stage, "link") == 0)
            put_member_names(row, MEMBER_CUBIN);
    } else if (strcmp(stage, "assemble") == 0)
        put_chunks(row, "ptx");
    else if (strcmp(stage, "merge") == 0) {
        put_chunks(row, "cubin");
        put_member_names(row, MEMBER_CUBIN);
    }
}

static size_t list_events(struct arena *arena, const struct events *events, const char *kind,
                          int (*compare)(const void *, const void *),
                          const struct logged_event ***list)
{
    size_t count = 0;

    *list = arena_alloc(arena, events->count, sizeof **list);
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(events->list[i].event.kind, kind) == 0)
            (*list)[count++] = &events->list[i];
    SORT(*list, count, compare);
    return count;
}

/* By the number in names that are otherwise the same. */
COMPARISON(by_name, struct logged_event *const,
           COMPARE((*a)->event.name.size, (*b)->event.name.size)
               ?: text_compare((*a)->event.name, (*b)->event.name));

static void put_part_rows(struct row *row, struct arena *arena, const struct events *events)
{
    const struct logged_event **list;
    size_t count = list_events(arena, events, EVENT_PART, by_name, &list);

    for (size_t i = 0; i < count; i++) {
        const struct event *event = &list[i]->event;
        const char *name = arena_string(arena, event->name);

        begin_row(row, name, "lto");
        end_row(row, NULL, event->end - event->start);
        begin_row(row, name, "lto memory");
        end_with(row, NULL, (double)event->peak / 0x1p20, "MiB");
    }
}

static void put_chunk_row(struct row *row, size_t index)
{
    const struct fact_chunk *chunk = &row->observation->chunks[index];
    char name[64];

    snprintf(name, sizeof name, "chunk-%zu.ptx", index);
    begin_row(row, name, "assemble");
    for (uint32_t i = chunk->first_kernel; i != FACT_NONE;
         i = row->observation->symbols[i].next_kernel)
        put_item(row, row->observation->symbols[i].own_name);
    snprintf(name, sizeof name, "chunk-%zu.cubin", index);
    end_row(row, name, chunk->nanoseconds);
}

COMPARISON(by_row, struct logged_event *const, COMPARE((*a)->row, (*b)->row) ?: COMPARE(*a, *b));

/* Adds a row per worker: the time that it was busy, and its chunks. */
static void put_worker_rows(struct row *row, struct arena *arena, const struct events *events)
{
    const struct logged_event **list;
    size_t count = list_events(arena, events, EVENT_CHUNK, by_row, &list);

    for (size_t i = 0, next; i < count; i = next) {
        uint64_t busy = 0;
        char name[64];

        next = i + 1;
        if (!events->rows[list[i]->row].is_worker)
            continue;
        begin_row(row, events->rows[list[i]->row].name, "assemble");
        for (next = i; next < count && list[next]->row == list[i]->row; next++) {
            const struct event *event = &list[next]->event;

            snprintf(name, sizeof name, "chunk-%u.ptx", (unsigned)event->chunk - 1);
            put_item(row, text_of(name));
            busy += event->end - event->start;
        }
        end_row(row, NULL, busy);
    }
}

COMPARISON(by_chunk, struct logged_event *const,
           COMPARE((*a)->event.chunk, (*b)->event.chunk) ?: COMPARE(*a, *b));

/* Rows are sorted by chunk, then by start, which is the order of the text if one thread does it. */
static void put_function_rows(struct row *row, struct arena *arena, const struct events *events)
{
    const struct logged_event **list;
    size_t count = list_events(arena, events, EVENT_FUNCTION, by_chunk, &list);
    char chunk[64];

    for (size_t i = 0; i < count; i++) {
        const struct event *event = &list[i]->event;

        snprintf(chunk, sizeof chunk, "chunk-%u.ptx", (unsigned)event->chunk - 1);
        begin_row(row, chunk, "compile");
        put_item(row, facts_name(row->observation, event->name));
        end_row(row, NULL, event->end - event->start);
    }
}

void times_print(struct observation *observation, bool has_rows, struct buffer *out)
{
    const struct events *events = facts_events(observation);
    struct row row = {.observation = observation, .out = out};

    if (!has_rows)
        buffer_string(out, "source file name , phase name , phase input files , "
                           "phase output file , arch , tool, metric , unit\n");
    for (size_t i = 0; i < observation->timing.count; i++) {
        const struct timing_row *stage = &observation->timing.rows[i];

        begin_row(&row, "link", stage->stage);
        put_inputs(&row, stage->stage);
        end_row(&row, observation->link.output, stage->nanoseconds);
    }
    put_part_rows(&row, &observation->arena, events);
    if (!observation->assembler)
        return;
    for (size_t i = 0; i < observation->chunk_count; i++)
        put_chunk_row(&row, i);
    put_worker_rows(&row, &observation->arena, events);
    put_function_rows(&row, &observation->arena, events);
}
