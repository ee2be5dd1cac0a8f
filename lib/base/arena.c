/* arena.c: bump allocation in blocks that double up to a limit, so that small links stay small. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"

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
    struct arena_block *older;
    size_t size; /* bytes after this header, which keeps them 16-aligned */
};

_Static_assert(sizeof(struct arena_block) % ALIGNMENT == 0, "block header keeps alignment");

static struct arena_block *make_block(size_t size)
{
    struct arena_block *block;

    if (size > SIZE_MAX - sizeof *block)
        context_raise(LINK_NO_MEMORY);
    block = memory_alloc(1, sizeof *block + size);
    block->size = size;
    return block;
}

static void begin_arena_block(struct arena *arena, struct arena_block *block)
{
    block->older = arena->blocks;
    arena->blocks = block;
    arena->next = (char *)(block + 1);
    arena->end = arena->next + block->size;
    ASAN_POISON_MEMORY_REGION(arena->next, block->size);
}

static void add_arena_block(struct arena *arena, size_t bytes)
{
    size_t size = arena->block_size ? arena->block_size : FIRST_BLOCK;

    if (size < bytes)
        size = bytes;
    else if (arena->block_size < LARGEST_BLOCK)
        arena->block_size = size * 2;
    begin_arena_block(arena, make_block(size));
}

void arena_reserve(struct arena *arena, size_t bytes)
{
    if (!arena->next || bytes > (size_t)(arena->end - arena->next))
        begin_arena_block(arena, make_block(bytes));
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
    if (!arena->next || bytes > (size_t)(arena->end - arena->next))
        add_arena_block(arena, bytes);
    result = arena->next;
    arena->next += bytes;
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

void *arena_grow(struct arena *arena, const void *array, size_t count, size_t *capacity,
                 size_t size)
{
    void *grown;

    if (*capacity > SIZE_MAX / 2)
        context_raise(LINK_NO_MEMORY);
    *capacity = *capacity < 8 ? 16 : *capacity * 2;
    grown = arena_alloc(arena, *capacity, size);
    if (count)
        memcpy(grown, array, count * size);
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
