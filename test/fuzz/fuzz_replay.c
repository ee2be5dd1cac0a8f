/* fuzz_replay.c: any bytes as the log of an assembler. */
#include "assemble/internal.h"
#include "fuzz.h"
#include "split/internal.h"

static void fuzz(struct bytes rest)
{
    /* Some lines of the chunk have an origin, others before and behind them have none. */
    struct line_range ranges[] = {{2, 3, 2, "member"}, {5, 1000000, 7, "other"}};
    struct chunk_origins origins = {ranges, 2};
    struct chunk chunk = {0};
    struct chunks chunks = {.list = &chunk, .count = 1, .origins = &origins};

    log_replay(&chunks, &chunk, text_of(fuzz_string(rest)), rest.size % 2);
}
