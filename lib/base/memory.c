/* memory.c: the one place that sees an allocation fail. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"

static size_t product(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        context_raise(LINK_NO_MEMORY);
    return total ? total : 1;
}

void *memory_alloc(size_t count, size_t size)
{
    void *block = malloc(product(count, size));

    if (!block)
        context_raise(LINK_NO_MEMORY);
    return block;
}

void *memory_zalloc(size_t count, size_t size)
{
    void *block = calloc(1, product(count, size));

    if (!block)
        context_raise(LINK_NO_MEMORY);
    return block;
}

void *memory_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t wanted;
    void *grown;

    if (needed > SIZE_MAX / 2)
        context_raise(LINK_NO_MEMORY);
    wanted = *capacity ? *capacity * 2 : 8;
    if (wanted < needed)
        wanted = needed;
    grown = realloc(array, product(wanted, size));
    if (!grown)
        context_raise(LINK_NO_MEMORY);
    *capacity = wanted;
    return grown;
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
