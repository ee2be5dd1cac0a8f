/* memory.c: the one place that sees an allocation fail; and buffers and lists of words. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"

static size_t product(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        context_raise(LINK_NO_MEMORY);
    return total ? total : 1;
}

static void *check_block(void *block)
{
    if (!block)
        context_raise(LINK_NO_MEMORY);
    return block;
}

void *memory_alloc(size_t count, size_t size)
{
    return check_block(malloc(product(count, size)));
}

void *memory_zalloc(size_t count, size_t size)
{
    return check_block(calloc(1, product(count, size)));
}

void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted;

    if (needed > SIZE_MAX / 2)
        context_raise(LINK_NO_MEMORY);
    wanted = *capacity ? *capacity * 2 : 8;
    if (wanted < needed)
        wanted = needed;
    array = check_block(realloc(array, product(wanted, size)));
    *capacity = wanted;
    return array;
}

char *memory_copy_string(const char *data, size_t size)
{
    char *copy = memory_alloc(size + 1, 1);

    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

void memory_cleanup(void *array)
{
    void *block;

    memcpy(&block, array, sizeof block);
    free(block);
}

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

void word_list_add(struct word_list *words, const char *word)
{
    ARENA_PUSH(words->arena, words->list, words->count, words->capacity) = word;
}

void word_list_add_all(struct word_list *words, const char *const *more)
{
    for (; more && *more; more++)
        word_list_add(words, *more);
}

void word_list_printf(struct word_list *words, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    word_list_add(words, arena_vprintf(words->arena, format, arguments));
    va_end(arguments);
}

const char **word_list_end(struct word_list *words)
{
    word_list_add(words, NULL);
    words->count--;
    return words->list;
}

void name_list_add(struct name_list *list, const char *name)
{
    if (list->last && strcmp(list->last, name) == 0)
        return;
    list->last = name;
    if (list->count < NAME_LIST_MOST)
        list->names[list->count] = name;
    list->count++;
}

const char *name_list_text(const char *head, const struct name_list *list, struct arena *arena)
{
    const char *const *names = list->names;

    switch (list->count) {
    case 0:
        return arena_printf(arena, "%s", head);
    case 1:
        return arena_printf(arena, "%s(%s)", head, names[0]);
    case 2:
        return arena_printf(arena, "%s(%s+%s)", head, names[0], names[1]);
    default:
        return arena_printf(arena, "%s(%s+%s+%s%s)", head, names[0], names[1], names[2],
                            list->count > NAME_LIST_MOST ? "+..." : "");
    }
}
