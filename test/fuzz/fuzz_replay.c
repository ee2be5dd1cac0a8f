/* fuzz_replay.c: any bytes as the log of an assembler. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/log_replay.h"
#include "diag/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chunk chunk = {0};
    struct chunks chunks = {.list = &chunk, .count = 1};
    struct diag_sink sink = {0};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    diag_state_get()->sink = &sink;
    log_replay(&chunks, &chunk, text, size % 2);
    diag_state_get()->sink = NULL;
    diag_sink_free(&sink);
    free(text);
    return 0;
}
