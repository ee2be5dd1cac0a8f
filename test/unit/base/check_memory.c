/* check_memory.c: sizes that no memory has are raised, not wrapped. */
#include <stdint.h>

#include "base/context.h"
#include "base/memory.h"
#include "suite.h"

static enum link_code allocate(void *argument)
{
    (void)argument;
    free(memory_alloc(SIZE_MAX / 2 + 2, 2)); /* 2, if it wraps */
    return LINK_OK;
}

static enum link_code allocate_zeros(void *argument)
{
    (void)argument;
    free(memory_zalloc(SIZE_MAX / 2, 3));
    return LINK_OK;
}

/* More than half of all numbers: doubling never reaches it. */
static enum link_code grow_beyond(void *argument)
{
    size_t capacity = 8;

    memory_grow(argument, &capacity, SIZE_MAX / 2 + 2, 1);
    return LINK_OK;
}

static enum link_code grow_product(void *argument)
{
    size_t capacity = 8;

    memory_grow(argument, &capacity, SIZE_MAX / 4, 16);
    return LINK_OK;
}

TEST(sizes_beyond_all_memory_are_raised)
{
    char *array = memory_copy_string("abc", 3);

    ck_assert_int_eq(context_run(allocate, NULL), LINK_NO_MEMORY);
    ck_assert_int_eq(context_run(allocate_zeros, NULL), LINK_NO_MEMORY);
    ck_assert_int_eq(context_run(grow_beyond, array), LINK_NO_MEMORY);
    ck_assert_int_eq(context_run(grow_product, array), LINK_NO_MEMORY);
    ck_assert_str_eq(array, "abc"); /* still the caller's */
    free(array);
}

TEST(arrays_double_or_get_what_is_needed)
{
    size_t capacity = 0, count = 0;
    uint64_t *list = NULL;

    for (size_t i = 0; i < 100; i++) {
        ARRAY_PUSH(list, count, capacity) = i;
        ck_assert_uint_eq(capacity, i < 8 ? 8 : i < 16 ? 16 : i < 32 ? 32 : i < 64 ? 64 : 128);
    }
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_eq(list[i], i);
    ARRAY_RESERVE(list, capacity, 128);
    ck_assert_uint_eq(capacity, 128);
    ARRAY_RESERVE(list, capacity, 129);
    ck_assert_uint_eq(capacity, 256);
    ARRAY_RESERVE(list, capacity, 1000);
    ck_assert_uint_eq(capacity, 1000);
    memory_cleanup(&list);
}

TEST(what_is_empty_is_a_block_too)
{
    char *none = memory_alloc(0, 8), *zeros = memory_zalloc(0, 8);
    char *copy = memory_copy_string(NULL, 0);

    ck_assert_ptr_nonnull(none);
    ck_assert_ptr_nonnull(zeros);
    ck_assert_str_eq(copy, "");
    free(none);
    free(zeros);
    free(copy);
}

TEST(zeros_are_zero)
{
    uint64_t *block;

    block = memory_alloc(100, sizeof *block);
    memset(block, 0xff, 100 * sizeof *block);
    free(block);
    block = memory_zalloc(100, sizeof *block);
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_eq(block[i], 0);
    free(block);
}
