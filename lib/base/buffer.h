/* buffer.h: a growing byte string, for texts and sections that are built piece by piece.
 *
 * Start with `struct buffer b = {0};`. `data` is malloc'ed and may be taken over by the caller
 * (buffer_take), else buffer_free releases it. Raises LINK_NO_MEMORY. */
#pragma once

#include <stdarg.h>

#include "base/text.h"

struct buffer {
    char *data;
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes allocated */
};

/* Makes room for `size` more bytes, so that they can be written at data + size. */
void buffer_reserve(struct buffer *buffer, size_t size);

/* Inline: most appends are a few bytes for which there is room. */
static inline void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    if (size > buffer->capacity - buffer->size)
        buffer_reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static inline void buffer_char(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

/* Little endian. */
static inline void buffer_u32(struct buffer *buffer, uint32_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

static inline void buffer_u64(struct buffer *buffer, uint64_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

void buffer_text(struct buffer *buffer, struct text text);
void buffer_string(struct buffer *buffer, const char *string);

/* Appends `size` zero bytes. */
void buffer_zeros(struct buffer *buffer, size_t size);

/* Pads with zero bytes until the size is a multiple of `alignment` (0 and 1 do nothing). */
void buffer_align(struct buffer *buffer, size_t alignment);

void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* The contents, as views valid until the next change. */
struct text buffer_view(const struct buffer *buffer);
struct bytes buffer_bytes(const struct buffer *buffer);

/* Hands the contents, followed by a NUL, to the caller, who frees them with free(); the buffer is
 * empty afterwards. */
char *buffer_take(struct buffer *buffer, size_t *size);

/* The second is for CONTEXT_DEFER. */
void buffer_free(struct buffer *buffer);
void buffer_cleanup(void *buffer);
