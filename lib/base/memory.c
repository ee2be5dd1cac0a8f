/* memory.c: the one place that sees an allocation fail; buffers, lists of words, and arenas. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

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
    static const char *const forms[] = {"%s", "%s(%s)", "%s(%s+%s)", "%s(%s+%s+%s)",
                                        "%s(%s+%s+%s+...)"};
    const char *const *names = list->names;
    size_t last = sizeof forms / sizeof *forms - 1;

    return arena_printf(arena, forms[list->count < last ? list->count : last], head, names[0],
                        names[1], names[2]);
}

/* Arenas: bump allocation in blocks that double up to a limit, so that small links stay small. */

/* AddressSanitizer knows only whole blocks. To let it catch every access outside an
 * allocation, the rest of a block is poisoned and a gap follows each allocation. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP    ALIGNMENT
#define UNUSED 0xbe /* the value of uninitialised bytes */
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define GAP                                        0u
#endif

#define FIRST_BLOCK   4096u
#define LARGEST_BLOCK (1u << 20)
#define ALIGNMENT     16u

struct arena_block {
    _Alignas(ALIGNMENT) struct arena_block *older;
};

/* Returns the room of a new block: the newest, or behind it. */
static char *add_arena_block(struct arena_block **place, size_t size)
{
    struct arena_block *block;

    if (size > SIZE_MAX - sizeof *block)
        context_raise(LINK_NO_MEMORY);
    block = memory_alloc(1, sizeof *block + size);
    block->older = *place;
    *place = block;
    ASAN_POISON_MEMORY_REGION(block + 1, size);
    return (char *)(block + 1);
}

/* Memory where the newest block has no room. For a large allocation there is a block of its own,
 * and the rest of the newest is used on. */
static char *add_arena_memory(struct arena *arena, size_t bytes)
{
    size_t size = arena->block_size ? arena->block_size : FIRST_BLOCK;
    char *result;

    if (bytes >= FIRST_BLOCK / 2 && bytes >= size / 8)
        return add_arena_block(arena->next ? &arena->blocks->older : &arena->blocks, bytes);
    if (arena->block_size < LARGEST_BLOCK)
        arena->block_size = size * 2;
    result = add_arena_block(&arena->blocks, size);
    arena->next = result + bytes;
    arena->end = result + size;
    return result;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t asked, bytes;
    void *result;

    if (__builtin_mul_overflow(count, size, &asked) || asked > SIZE_MAX - ALIGNMENT - GAP)
        context_raise(LINK_NO_MEMORY);
    bytes = (asked + GAP + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes == 0)
        bytes = ALIGNMENT;
    if (!arena->next || bytes > (size_t)(arena->end - arena->next)) {
        result = add_arena_memory(arena, bytes);
    } else {
        result = arena->next;
        arena->next += bytes;
    }
    ASAN_UNPOISON_MEMORY_REGION(result, asked);
#ifdef UNUSED
    memset(result, UNUSED, asked);
#endif
    return result;
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size)
{
    void *result = arena_alloc(arena, count, size);

    memset(result, 0, count * size);
    return result;
}

void *arena_copy(struct arena *arena, const void *array, size_t count, size_t size)
{
    void *copy = arena_alloc(arena, count, size);

    if (count)
        memcpy(copy, array, count * size);
    return copy;
}

void *arena_grow(struct arena *arena, const void *old, size_t count, size_t *capacity, size_t size)
{
    void *grown;

    if (*capacity > SIZE_MAX / 2)
        context_raise(LINK_NO_MEMORY);
    *capacity = *capacity < 8 ? 16 : *capacity * 2;
    grown = arena_alloc(arena, *capacity, size);
    if (count)
        memcpy(grown, old, count * size);
    return grown;
}

static char *join(struct arena *arena, struct text first, struct text second)
{
    size_t size;
    char *joined;

    if (__builtin_add_overflow(first.size, second.size, &size) || size == SIZE_MAX)
        context_raise(LINK_NO_MEMORY);
    joined = arena_alloc(arena, size + 1, 1);
    if (first.size)
        memcpy(joined, first.data, first.size);
    if (second.size)
        memcpy(joined + first.size, second.data, second.size);
    joined[size] = '\0';
    return joined;
}

struct text arena_join(struct arena *arena, struct text first, struct text second)
{
    return (struct text){join(arena, first, second), first.size + second.size};
}

char *arena_string(struct arena *arena, struct text text)
{
    return join(arena, text, (struct text){0});
}

struct text arena_text(struct arena *arena, struct text text)
{
    return arena_join(arena, text, (struct text){0});
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    char *result;
    int size;

    va_copy(again, arguments);
    size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0)
        context_raise(LINK_NO_MEMORY);
    result = arena_alloc(arena, (size_t)size + 1, 1);
    vsnprintf(result, (size_t)size + 1, format, arguments);
    return result;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    char *result;

    va_start(arguments, format);
    result = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return result;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *arena = (struct arena){0};
}

void arena_cleanup(void *arena)
{
    arena_free(arena);
}
