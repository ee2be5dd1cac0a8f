/* memory.h: allocation that does not fail.
 *
 * When memory runs out these functions do not return: they raise LINK_NO_MEMORY through the
 * thread's context (context.h), which unwinds to its recovery point, or ends the program when there
 * is none. Sizes are counts of elements times bytes; the product is checked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* `count` * `size` bytes, uninitialised. Freed with free(). Never NULL, also for 0 bytes. */
void *memory_alloc(size_t count, size_t size);

/* The same, zeroed. */
void *memory_zalloc(size_t count, size_t size);

/* Grows the array at *array (element `size` bytes, *capacity elements) until it holds `needed`
 * elements, doubling, and returns it. On failure the old array stays valid and is still owned by
 * the caller. Use through ARRAY_RESERVE. */
void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* Makes room for `needed` elements in a malloc'ed array with its capacity beside it. */
#define ARRAY_RESERVE(array, capacity, needed)                                                     \
    ((needed) > (capacity)                                                                         \
         ? (void)((array) = memory_grow((array), &(capacity), (needed), sizeof *(array)))          \
         : (void)0)

/* Appends one element: ARRAY_PUSH(list, count, capacity) = value. */
#define ARRAY_PUSH(array, count, capacity)                                                         \
    (ARRAY_RESERVE((array), (capacity), (count) + 1), (array) + (count)++)[0]

/* A malloc'ed, NUL-terminated copy of `size` bytes. */
char *memory_copy_string(const char *data, size_t size);

/* Large pages of the heap. */
struct memory_range {
    uintptr_t begin;
    size_t pages;
};

/* For a program that does one thing and ends: what is freed is kept for the next allocation instead
 * of being given back to the kernel, which would have to clear it again page by page (a quarter of
 * the time of assembling). Call it first of all; a library must not. */
void memory_keep_freed(void);

/* Says that about so many bytes are going to be needed. Such a program then takes them in pages of
 * 2 MB, where the kernel has some: each page of 4 KB costs a fault (a fifth of a large merge's
 * time). Does nothing elsewhere, or for few; called while there is one thread. Returns where they
 * are, which may be nowhere. */
struct memory_range memory_expect(size_t bytes);

/* Gets one of `parts` parts of these pages from the kernel, which clears them: a large merge's
 * threads share that. Changes nothing in them. */
void memory_prepare(const struct memory_range *range, size_t part, size_t parts);

/* free for context_defer: `array` is the address of the pointer to the malloc'ed array, which may
 * still move. */
void memory_cleanup(void *array);
