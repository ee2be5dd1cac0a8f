/* fuzz_replay.c: any bytes as the log of an assembler. */
#include "assemble/workitem.h"
#include "fuzz.h"

/* The real one needs chunks that were cut from a program. */
bool chunk_origin(const struct chunks *chunks, const struct chunk *chunk, uint32_t line,
                  const char **member, uint32_t *member_line)
{
    (void)chunks;
    (void)chunk;
    *member = "member";
    *member_line = line;
    return line % 2 == 0;
}

static void fuzz(struct bytes rest)
{
    struct chunk chunk = {0};
    struct chunks chunks = {.list = &chunk, .count = 1};

    log_replay(&chunks, &chunk, text_of(fuzz_string(rest)), rest.size % 2);
}
