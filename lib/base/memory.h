/* memory.h: allocation that does not fail.
 *
 * When memory runs out these functions do not return: they raise LINK_NO_MEMORY through the
 * thread's context (context.h), which unwinds to its recovery point, or ends the program when there
 * is none. Sizes are counts of elements times bytes; the product is checked. */
#pragma once

#include <stddef.h>

/* `count` * `size` bytes, uninitialised or zeroed. Freed with free(). Never NULL, even for 0 bytes.
 */
void *memory_alloc(size_t count, size_t size);
void *memory_zalloc(size_t count, size_t size);

/* Grows the array at *array (element `size` bytes, *capacity elements) for `needed` elements, which
 * are more: to twice its capacity, or to exactly `needed` if that is larger. Returns it. On failure
 * the old array stays valid and is still owned by the caller. Use through ARRAY_RESERVE. */
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

/* free for CONTEXT_DEFER: `array` is the address of the pointer to the malloc'ed array, which may
 * still move. */
void memory_cleanup(void *array);
