/* buffer.c: amortised growth, one realloc at a time. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"

void buffer_reserve(struct buffer *buffer, size_t size)
{
    if (size > SIZE_MAX - buffer->size)
        context_raise(LINK_NO_MEMORY);
    ARRAY_RESERVE(buffer->data, buffer->capacity, buffer->size + size);
}

void buffer_text(struct buffer *buffer, struct text text)
{
    buffer_append(buffer, text.data, text.size);
}

void buffer_string(struct buffer *buffer, const char *string)
{
    buffer_append(buffer, string, strlen(string));
}

void buffer_zeros(struct buffer *buffer, size_t size)
{
    if (size == 0)
        return;
    buffer_reserve(buffer, size);
    memset(buffer->data + buffer->size, 0, size);
    buffer->size += size;
}

void buffer_align(struct buffer *buffer, size_t alignment)
{
    if (alignment > 1 && buffer->size % alignment)
        buffer_zeros(buffer, alignment - buffer->size % alignment);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0) {
        buffer_reserve(buffer, (size_t)length + 1);
        vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

struct text buffer_view(const struct buffer *buffer)
{
    return (struct text){buffer->data, buffer->size};
}

struct bytes buffer_bytes(const struct buffer *buffer)
{
    return (struct bytes){(const uint8_t *)buffer->data, buffer->size};
}

char *buffer_take(struct buffer *buffer, size_t *size)
{
    char *data;

    buffer_reserve(buffer, 1);
    data = buffer->data;
    data[buffer->size] = '\0';
    if (size)
        *size = buffer->size;
    *buffer = (struct buffer){0};
    return data;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_cleanup(void *buffer)
{
    buffer_free(buffer);
}
