/* arena.h: memory that is freed all at once.
 *
 * Each stage has one arena for the results that it hands on, and each worker one for its chunk.
 * Not thread-safe: an arena belongs to one thread at a time. Start with `struct arena a = {0};`. */
#pragma once

#include <stdarg.h>

#include "base/text.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next;                 /* first free byte of the newest block */
    char *end;
    size_t block_size; /* of the next block; grows with use */
};

/* `count` * `size` bytes aligned for any type, uninitialised or zeroed. Never NULL; raises
 * LINK_NO_MEMORY. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);
void *arena_zalloc(struct arena *arena, size_t count, size_t size);

/* Makes room for allocations of `bytes` in total with one block of exactly that size: for an arena
 * whose use is known beforehand. Each allocation counts as a multiple of 16. */
void arena_reserve(struct arena *arena, size_t bytes);

/* A copy of the array of `count` elements (of `size` bytes). */
void *arena_copy(struct arena *arena, const void *array, size_t count, size_t size);

/* A copy of the array of `count` elements (of `size` bytes) with room for twice *capacity elements,
 * at least 16; updates *capacity. The old array stays where it is. */
void *arena_grow(struct arena *arena, const void *array, size_t count, size_t *capacity,
                 size_t size);

/* Appends one element to an array in the arena: ARENA_PUSH(arena, list, count, capacity) = value.
 */
#define ARENA_PUSH(arena, array, count, capacity)                                                  \
    ((count) == (capacity)                                                                         \
         ? (void)((array) = arena_grow((arena), (array), (count), &(capacity), sizeof *(array)))   \
         : (void)0,                                                                                \
     (array) + (count)++)[0]

/* The concatenation of `first` and `second`, NUL-terminated. */
struct text arena_join(struct arena *arena, struct text first, struct text second);

/* A NUL-terminated copy of a view; as a view it does not count the NUL. */
char *arena_string(struct arena *arena, struct text text);
struct text arena_text(struct arena *arena, struct text text);

/* printf into the arena; NUL-terminated. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Frees every block; the arena is empty and usable again. The second is for CONTEXT_DEFER. */
void arena_free(struct arena *arena);
void arena_cleanup(void *arena);
