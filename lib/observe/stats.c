/* stats.c: --stats: a table of the stages.
 *
 *     stage          time   share       items             bytes  peak memory
 *     assemble    81.2 ms   62.1 %      40 chunks       9.3 MiB     58.2 MiB
 *
 * The bytes are a stage's input, except for `write`; the memory is the process's peak so far. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "observe/facts.h"

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

void stats_print(struct observation *observation, struct buffer *out)
{
    const struct timing *timing = &observation->timing;
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
    if (observation->assembler && observation->chunk_count) {
        char chunks[48], threads[48];
        uint64_t busy = 0;

        for (size_t i = 0; i < observation->chunk_count; i++)
            busy += observation->chunks[i].nanoseconds;
        put_counted(chunks, sizeof chunks, observation->chunk_count, "chunks");
        put_counted(threads, sizeof threads, observation->threads, "threads");
        buffer_printf(out, "assembler %s: %s in %.1f ms on %s\n", observation->assembler, chunks,
                      (double)busy / 1e6, threads);
    }
}
