/* times.c: -time: nvlink's table (measured), with rows for minilink's stages; and --stats.
 *
 *     source file name , phase name , phase input files , phase output file ,
 *         arch , tool, metric , unit
 *
 * One row per stage, with its inputs; two per compilation of LTO-IR, the second with its memory;
 * one per chunk, with its kernels; per worker, with its chunks; and per function that the built-in
 * assembler compiled. Items of lists have blanks between; a blank or comma in a name is spelled
 * out. */
#include "observe/internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/search.h"
#include "diag/escape.h"

/* A row that is being built. */
struct row {
    const struct observation *seen;
    struct arena *arena;
    struct buffer *out;
    bool has_items;
};

static void put_csv_name(struct buffer *out, struct text name)
{
    LOCAL_BUFFER(shown);

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
    buffer_printf(row->out, " , %s , minilink , %.4f , %s\n", arch_name(row->seen->arch, arch),
                  value, unit);
}

static void end_row(const struct row *row, const char *output, uint64_t nanoseconds)
{
    end_with(row, output, (double)nanoseconds / 1e6, "ms");
}

static void put_member_names(struct row *row, enum member_role role)
{
    const struct observation *seen = row->seen;

    for (size_t i = 0; i < seen->member_count; i++)
        if (seen->members[i].of->role == role)
            put_item(row, text_of(seen->members[i].of->name));
}

static const char *chunk_name(const struct row *row, size_t index, const char *suffix)
{
    return arena_printf(row->arena, "chunk-%zu.%s", index, suffix);
}

static void put_chunks(struct row *row, const char *suffix)
{
    for (size_t i = 0; i < row->seen->chunk_count; i++)
        put_item(row, text_of(chunk_name(row, i, suffix)));
}

static void put_inputs(struct row *row, const char *stage)
{
    static const struct {
        const char *stage;
        enum member_role role;
    } takes[] = {{"lto", MEMBER_LTO},
                 {"link", MEMBER_PTX},
                 {"link", MEMBER_CUBIN},
                 {"split", MEMBER_PTX},
                 {"merge", MEMBER_CUBIN}};
    const struct observation *seen = row->seen;
    bool is_select = strcmp(stage, "select") == 0, is_agree = strcmp(stage, "agree") == 0;

    for (size_t i = 0; strcmp(stage, "open") == 0 && i < seen->link.inputs->count; i++)
        put_item(row, text_of(seen->link.inputs->files[i].path));
    for (size_t i = 0; i < seen->member_count; i++) {
        const struct fact_member *member = &seen->members[i];

        if ((is_select && member->of->role != MEMBER_UNUSED && !member->is_made) ||
            (is_agree && consensus_has(member->of)))
            put_item(row, text_of(member->of->name));
    }
    if (strcmp(stage, "assemble") == 0)
        put_chunks(row, "ptx");
    else if (strcmp(stage, "merge") == 0)
        put_chunks(row, "cubin");
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (strcmp(stage, takes[i].stage) == 0)
            put_member_names(row, takes[i].role);
}

static size_t list_events(const struct row *row, const char *kind,
                          int (*compare)(const void *, const void *),
                          const struct logged_event ***list)
{
    const struct events *events = &row->seen->events;
    size_t count = 0;

    *list = arena_alloc(row->arena, events->count, sizeof **list);
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

static void put_part_rows(struct row *row)
{
    const struct logged_event **list;
    size_t count = list_events(row, EVENT_PART, by_name, &list);

    for (size_t i = 0; i < count; i++) {
        const struct event *event = &list[i]->event;
        const char *name = arena_string(row->arena, event->name);

        begin_row(row, name, "lto");
        end_row(row, NULL, event->end - event->start);
        begin_row(row, name, "lto memory");
        end_with(row, NULL, (double)event->peak / 0x1p20, "MiB");
    }
}

static void put_chunk_row(struct row *row, size_t index)
{
    const struct fact_chunk *chunk = &row->seen->chunks[index];

    begin_row(row, chunk_name(row, index, "ptx"), "assemble");
    for (uint32_t i = chunk->first_kernel; i != FACT_NONE; i = row->seen->symbols[i].next_kernel)
        put_item(row, row->seen->symbols[i].own_name);
    end_row(row, chunk_name(row, index, "cubin"), chunk->nanoseconds);
}

COMPARISON(by_row, struct logged_event *const, COMPARE((*a)->row, (*b)->row) ?: COMPARE(*a, *b));

/* Adds a row per worker: the time that it was busy, and its chunks. */
static void put_worker_rows(struct row *row)
{
    const struct logged_event **list;
    size_t count = list_events(row, EVENT_CHUNK, by_row, &list);

    for (size_t i = 0, next; i < count; i = next) {
        const struct event_row *worker = &row->seen->events.rows[list[i]->row];
        uint64_t busy = 0;

        next = i + 1;
        if (!worker->is_worker)
            continue;
        begin_row(row, worker->name, "assemble");
        for (next = i; next < count && list[next]->row == list[i]->row; next++) {
            const struct event *event = &list[next]->event;

            put_item(row, text_of(chunk_name(row, event->chunk - 1, "ptx")));
            busy += event->end - event->start;
        }
        end_row(row, NULL, busy);
    }
}

COMPARISON(by_chunk, struct logged_event *const,
           COMPARE((*a)->event.chunk, (*b)->event.chunk) ?: COMPARE(*a, *b));

/* Rows are sorted by chunk, then by start, which is the order of the text if one thread does it. */
static void put_function_rows(struct row *row)
{
    const struct logged_event **list;
    size_t count = list_events(row, EVENT_FUNCTION, by_chunk, &list);

    for (size_t i = 0; i < count; i++) {
        const struct event *event = &list[i]->event;

        begin_row(row, chunk_name(row, event->chunk - 1, "ptx"), "compile");
        put_item(row, facts_name(row->seen, event->name));
        end_row(row, NULL, event->end - event->start);
    }
}

void times_print(struct observation *seen, bool has_rows, struct buffer *out)
{
    struct row row = {.seen = seen, .arena = &seen->arena, .out = out};

    facts_events(seen);
    if (!has_rows)
        buffer_string(out, "source file name , phase name , phase input files , "
                           "phase output file , arch , tool, metric , unit\n");
    for (size_t i = 0; i < seen->timing.count; i++) {
        const struct timing_row *stage = &seen->timing.rows[i];

        begin_row(&row, "link", stage->stage);
        put_inputs(&row, stage->stage);
        end_row(&row, seen->link.output, stage->nanoseconds);
    }
    put_part_rows(&row);
    if (!seen->assembler)
        return;
    for (size_t i = 0; i < seen->chunk_count; i++)
        put_chunk_row(&row, i);
    put_worker_rows(&row);
    put_function_rows(&row);
}

/* --stats: a table of the stages.
 *
 *     stage          time   share       items             bytes  peak memory
 *     assemble    81.2 ms   62.1 %      40 chunks       9.3 MiB     58.2 MiB
 *
 * The bytes are a stage's input, except for `write`; the memory is the process's peak so far. */

#define SIZE_ROOM 24

/* "812 B", "9.3 MiB". */
static const char *size_text(uint64_t bytes, char text[SIZE_ROOM])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(text, SIZE_ROOM, "%" PRIu64 " B", bytes);
        return text;
    }
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    snprintf(text, SIZE_ROOM, "%.1f %s", size, units[unit]);
    return text;
}

/* "3 chunks", "1 chunk". */
static void put_counted(char *text, size_t room, uint64_t count, const char *unit)
{
    snprintf(text, room, "%" PRIu64 " %.*s", count, (int)strlen(unit) - (count == 1), unit);
}

static void put_timing_row(struct buffer *out, const struct timing_row *row, uint64_t total)
{
    char items[48] = "", bytes[SIZE_ROOM] = "", memory[SIZE_ROOM];

    if (row->work.unit)
        put_counted(items, sizeof items, row->work.items, row->work.unit);
    if (row->work.bytes)
        size_text(row->work.bytes, bytes);
    buffer_printf(out, "%-10s %9.1f ms  %5.1f %%  %-18s %12s %12s\n", row->stage,
                  (double)row->nanoseconds / 1e6,
                  total ? 100 * (double)row->nanoseconds / (double)total : 0.0, items, bytes,
                  size_text(row->peak_memory, memory));
}

void stats_print(struct observation *seen, struct buffer *out)
{
    const struct timing *timing = &seen->timing;
    struct timing_row sum = {.stage = "link"};

    for (size_t i = 0; i < timing->count; i++) {
        sum.nanoseconds += timing->rows[i].nanoseconds;
        sum.peak_memory = timing->rows[i].peak_memory;
    }
    buffer_printf(out, "%-10s %12s  %7s  %-18s %12s %12s\n", "stage", "time", "share", "items",
                  "bytes", "peak memory");
    for (size_t i = 0; i < timing->count; i++)
        put_timing_row(out, &timing->rows[i], sum.nanoseconds);
    put_timing_row(out, &sum, sum.nanoseconds);
    if (seen->assembler && seen->chunk_count) {
        char chunks[48], threads[48];
        uint64_t busy = 0;

        for (size_t i = 0; i < seen->chunk_count; i++)
            busy += seen->chunks[i].nanoseconds;
        put_counted(chunks, sizeof chunks, seen->chunk_count, "chunks");
        put_counted(threads, sizeof threads, seen->threads, "threads");
        buffer_printf(out, "assembler %s: %s in %.1f ms on %s\n", seen->assembler, chunks,
                      (double)busy / 1e6, threads);
    }
}
