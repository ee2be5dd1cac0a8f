/* fuzz.h: what fuzzers share: taking an input apart, strings that end where a sanitizer sees it,
 * messages that nobody reads. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"
#include "diag/diag.h"

/* The fuzzer: called by libFuzzer, or by standalone.c. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the first byte off `rest`; 0 when there is none. */
static inline uint8_t fuzz_byte(struct bytes *rest)
{
    if (rest->size == 0)
        return 0;
    rest->size--;
    return *rest->data++;
}

/* Takes the next part off `rest`: four bytes, little-endian, say how long it is; one that would be
 * longer than the rest is the rest. */
static inline struct bytes fuzz_part(struct bytes *rest)
{
    struct bytes part = {rest->data, 0};
    uint32_t size = 0;

    for (unsigned i = 0; i < 4; i++)
        size |= (uint32_t)fuzz_byte(rest) << (8 * i);
    part = (struct bytes){rest->data, size < rest->size ? size : rest->size};
    rest->data += part.size;
    rest->size -= part.size;
    return part;
}

/* A malloc'ed copy of exactly those bytes, so that a sanitizer sees every byte read beyond them. */
static inline uint8_t *fuzz_copy(struct bytes part)
{
    uint8_t *copy = malloc(part.size ? part.size : 1);

    if (!copy)
        abort();
    if (part.size)
        memcpy(copy, part.data, part.size);
    return copy;
}

/* The same with a NUL behind. */
static inline char *fuzz_string(struct bytes part)
{
    char *copy = malloc(part.size + 1);

    if (!copy)
        abort();
    if (part.size)
        memcpy(copy, part.data, part.size);
    copy[part.size] = '\0';
    return copy;
}

/* Takes the next line off `rest`, without its end. False at the end. */
static inline bool fuzz_line(struct bytes *rest, struct text *line)
{
    const uint8_t *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;

    if (rest->size == 0)
        return false;
    *line = (struct text){(const char *)rest->data, end ? (size_t)(end - rest->data) : rest->size};
    rest->data += line->size + (end != NULL);
    rest->size -= line->size + (end != NULL);
    return true;
}

/* From now on messages are collected in `sink`, which is emptied, and not printed. */
static inline void fuzz_catch(struct diag_sink *sink)
{
    *sink = (struct diag_sink){0};
    diag_state_get()->sink = sink;
}

/* Ends collecting. Returns how many errors were reported. */
static inline uint64_t fuzz_caught(struct diag_sink *sink)
{
    uint64_t errors = sink->errors;

    diag_state_get()->sink = NULL;
    diag_sink_free(sink);
    return errors;
}
