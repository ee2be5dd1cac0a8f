/* fuzz.h: what makes a fuzzer of its fuzz(), and what fuzzers share: taking an input apart, with
 * blocks that end where a sanitizer sees it, and messages that nobody reads. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/context.h"
#include "base/text.h"
#include "diag/diag.h"

#define FUZZ_BLOCKS 128

/* The fuzzer's own: what it does with an input, a block of exactly those bytes, so that a sanitizer
 * sees every byte read beyond them. Messages are collected. */
static void fuzz(struct bytes rest);

/* Of the input at hand. */
static struct {
    struct diag_sink sink;
    void *blocks[FUZZ_BLOCKS];
    size_t block_count;
} fuzz_input;

/* Frees the block when the input ends. Returns it. */
static inline void *fuzz_keep(void *block)
{
    if (!block || fuzz_input.block_count == FUZZ_BLOCKS)
        abort();
    return fuzz_input.blocks[fuzz_input.block_count++] = block;
}

/* A copy of exactly those bytes, or with a NUL behind; it lasts as long as the input. */
static inline uint8_t *fuzz_copy(struct bytes part)
{
    uint8_t *copy = fuzz_keep(malloc(part.size ? part.size : 1));

    if (part.size)
        memcpy(copy, part.data, part.size);
    return copy;
}

static inline char *fuzz_string(struct bytes part)
{
    char *copy = fuzz_keep(malloc(part.size + 1));

    if (part.size)
        memcpy(copy, part.data, part.size);
    copy[part.size] = '\0';
    return copy;
}

/* Takes the first byte off `rest`; 0 when there is none. */
static inline uint8_t fuzz_byte(struct bytes *rest)
{
    if (rest->size == 0)
        return 0;
    rest->size--;
    return *rest->data++;
}

/* Takes the next part off `rest`, as a block of its own: four bytes, little-endian, say how long it
 * is; one that would be longer than the rest is the rest. */
static inline struct bytes fuzz_part(struct bytes *rest)
{
    struct bytes part = {0};
    uint32_t size = 0;

    for (unsigned i = 0; i < 4; i++)
        size |= (uint32_t)fuzz_byte(rest) << (8 * i);
    part = (struct bytes){rest->data, size < rest->size ? size : rest->size};
    rest->data += part.size;
    rest->size -= part.size;
    return (struct bytes){fuzz_copy(part), part.size};
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

/* How many errors were reported since this was last called, or the input began. */
static inline uint64_t fuzz_errors(void)
{
    uint64_t errors = fuzz_input.sink.errors;

    fuzz_input.sink.errors = 0;
    return errors;
}

/* Called by libFuzzer, or by standalone.c. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    diag_state_get()->sink = &fuzz_input.sink;
    fuzz((struct bytes){fuzz_copy((struct bytes){data, size}), size});
    diag_state_get()->sink = NULL;
    diag_sink_free(&fuzz_input.sink);
    while (fuzz_input.block_count > 0)
        free(fuzz_input.blocks[--fuzz_input.block_count]);
    memset(&fuzz_input.sink, 0, sizeof fuzz_input.sink);
    return 0;
}
