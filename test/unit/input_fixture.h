/* input_fixture.h: what the tests of the input stage share: reading fixtures, and building
 * containers. */
#pragma once

#include <stdlib.h>

#include "input/fatbin.h"
#include "files.h"
#include "messages.h"

#define FIXTURES "fixtures/fatbin/"

/* The contents of a file that must be there, which stay for as long as the test runs. */
static inline struct bytes fixture_read(const char *path)
{
    static struct buffer kept;
    struct buffer file = files_load(path);
    struct bytes data = buffer_bytes(&file);

    buffer_append(&kept, &data, sizeof data);
    return data;
}

/* A copy in memory of exactly that size, so that a sanitizer sees every byte read beyond it. */
static inline struct bytes fixture_exact(struct bytes data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (size)
        memcpy(copy, data.data, size);
    return (struct bytes){copy, size};
}

static inline void fixture_free(struct bytes data)
{
    free((void *)(uintptr_t)data.data);
}

static inline void fixture_put(struct buffer *buffer, size_t at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        buffer->data[at + i] = (char)(uint8_t)(value >> (8 * i));
}

/* One entry of a container that is built by hand; payload and options are NUL-terminated strings.
 */
struct fixture_entry {
    uint16_t kind;
    uint32_t sm;
    uint64_t flags; /* beside FATBIN_64BIT */
    const char *payload;
    const char *options; /* or NULL */
};

/* Begins a container: an outer header, whose size fixture_end fills in. Returns where it begins. */
static inline size_t fixture_begin(struct buffer *buffer)
{
    size_t at = buffer->size;

    buffer_zeros(buffer, 16);
    fixture_put(buffer, at, FATBIN_MAGIC, 4);
    fixture_put(buffer, at + 4, 1, 2);
    fixture_put(buffer, at + 6, 16, 2);
    return at;
}

static inline void fixture_end(struct buffer *buffer, size_t begin)
{
    fixture_put(buffer, begin + 8, buffer->size - begin - 16, 8);
}

static inline void fixture_add(struct buffer *buffer, const struct fixture_entry *entry)
{
    size_t at = buffer->size, begin = at % 8;

    buffer_zeros(buffer, 64);
    fixture_put(buffer, at, entry->kind, 2);
    fixture_put(buffer, at + 0x02, 0x0101, 2);
    fixture_put(buffer, at + 0x1c, entry->sm, 4);
    fixture_put(buffer, at + 0x28, entry->flags | FATBIN_64BIT, 8);
    ck_assert_uint_eq(begin, 0);
    if (entry->options) {
        fixture_put(buffer, at + 0x14, 64, 4);
        buffer_u32(buffer, 72);
        buffer_u32(buffer, (uint32_t)strlen(entry->options));
        buffer_string(buffer, entry->options);
        buffer_char(buffer, '\0');
        buffer_align(buffer, 8);
    }
    fixture_put(buffer, at + 0x04, buffer->size - at, 4);
    begin = buffer->size;
    buffer_string(buffer, entry->payload);
    buffer_char(buffer, '\0');
    buffer_align(buffer, 8);
    fixture_put(buffer, at + 0x08, buffer->size - begin, 8);
}
