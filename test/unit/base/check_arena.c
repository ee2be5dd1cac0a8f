/* check_arena.c: memory that is freed all at once. */

#include "base/memory.h"
#include "base/context.h"
#include "suite.h"

static struct arena arena;

void tear_down(void)
{
    arena_free(&arena);
}

TEST(allocations_are_aligned_and_lie_apart)
{
    char *before = NULL;

    for (size_t size = 0; size < 100; size++) {
        char *here = arena_alloc(&arena, size, 1);

        ck_assert_uint_eq((uintptr_t)here % 16, 0);
        ck_assert_ptr_ne(here, before);
        if (size > 0) /* of the last allocation not a byte is in this one */
            memset(here, (int)size, size);
        if (size > 1)
            ck_assert_int_eq(before[size - 2], (char)(size - 1));
        before = here;
    }
    arena_free(&arena);
    ck_assert_ptr_null(arena.blocks);
}

static void *next_block(void)
{
    struct arena_block *newest = arena.blocks;
    void *begin;

    do
        begin = arena_alloc(&arena, 16, 1);
    while (arena.blocks == newest);
    return begin;
}

TEST(blocks_double_up_to_a_limit)
{
    for (size_t size = 8192; size <= 1u << 20; size *= 2) {
        next_block();
        ck_assert_uint_eq(arena.block_size, size);
    }
    next_block();
    ck_assert_uint_eq(arena.block_size, 1u << 20);
    arena_alloc(&arena, 3u << 20, 1);
    ck_assert_uint_eq(arena.block_size, 1u << 20);
}

/* The first one has no block before it. */
TEST(a_large_allocation_leaves_the_rest_of_a_block)
{
    struct arena_block *block;
    char *small;

    memset(arena_alloc(&arena, 5000, 1), 'x', 5000);
    small = arena_alloc(&arena, 16, 1);
    block = arena.blocks;
    memset(arena_alloc(&arena, 5000, 1), 'x', 5000);
    ck_assert_ptr_eq(arena.blocks, block);
    ck_assert_int_lt((char *)arena_alloc(&arena, 16, 1) - small, 100);
    ck_assert_uint_eq(arena.block_size, 8192);
}

TEST(arrays_are_copied_and_grow)
{
    size_t count = 0, capacity = 0;
    uint32_t *list = NULL, *first, *zeroed;

    for (uint32_t i = 0; i < 100; i++) {
        ARENA_PUSH(&arena, list, count, capacity) = i;
        ck_assert_uint_eq(capacity, i < 16 ? 16 : i < 32 ? 32 : i < 64 ? 64 : 128);
    }
    ck_assert_uint_eq(count, 100);
    first = arena_copy(&arena, list, 100, sizeof *list);
    ck_assert_ptr_ne(first, list);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(list[i] + first[i], 2 * i);
    arena_free(&arena);
    zeroed = arena_zalloc(&arena, 100, sizeof *zeroed);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(zeroed[i], 0);
}

TEST(texts_end_with_a_nul)
{
    struct text joined, copy;

    memset(arena_alloc(&arena, 2000, 1), 'x', 2000);
    arena_free(&arena);
    joined = arena_join(&arena, TEXT("ab"), TEXT("cde"));
    ck_assert_uint_eq(joined.size, 5);
    ck_assert_str_eq(joined.data, "abcde");
    ck_assert_str_eq(arena_join(&arena, (struct text){0}, (struct text){0}).data, "");
    ck_assert_str_eq(arena_string(&arena, (struct text){joined.data + 1, 3}), "bcd");
    copy = arena_text(&arena, (struct text){joined.data + 2, 2});
    ck_assert_uint_eq(copy.size, 2);
    ck_assert_str_eq(copy.data, "cd");
    ck_assert_str_eq(arena_printf(&arena, "%s-%d", copy.data, 7), "cd-7");
}

/* Sizes that, multiplied, aligned, or together with a block's header, are beyond all memory. */
static const struct {
    size_t count, size;
} beyond[] = {{SIZE_MAX / 2, 3}, {SIZE_MAX, 1}, {SIZE_MAX - 16, 1}};

static enum link_code allocate(void *row)
{
    arena_alloc(&arena, beyond[*(int *)row].count, beyond[*(int *)row].size);
    return LINK_OK;
}

TEST_LOOP(a_size_beyond_all_memory_is_raised, COUNT(beyond))
{
    ck_assert_int_eq(context_run(allocate, &_i), LINK_NO_MEMORY);
    ck_assert_ptr_null(arena.blocks);
}

static enum link_code join_too_much(void *argument)
{
    arena_join(argument, (struct text){"", SIZE_MAX - 1}, TEXT("a"));
    return LINK_OK;
}

static enum link_code copy_too_much(void *argument)
{
    arena_string(argument, (struct text){"", SIZE_MAX});
    return LINK_OK;
}

static enum link_code grow_too_much(void *argument)
{
    size_t capacity = SIZE_MAX / 2 + 1;

    arena_grow(argument, NULL, 0, &capacity, 1);
    return LINK_OK;
}

TEST(so_is_a_text_or_an_array)
{
    ck_assert_int_eq(context_run(join_too_much, &arena), LINK_NO_MEMORY);
    ck_assert_int_eq(context_run(copy_too_much, &arena), LINK_NO_MEMORY);
    ck_assert_int_eq(context_run(grow_too_much, &arena), LINK_NO_MEMORY);
    ck_assert_ptr_null(arena.blocks);
}

/* In a build without it, the function is not there. */
__attribute__((weak)) int __asan_address_is_poisoned(const volatile void *address);

TEST(address_sanitizer_knows_where_allocations_end)
{
    char *first = arena_alloc(&arena, 5, 1), *second = arena_alloc(&arena, 16, 1);

    if (__asan_address_is_poisoned) {
        ck_assert(!__asan_address_is_poisoned(first + 4));
        ck_assert(__asan_address_is_poisoned(first + 5));
        ck_assert(!__asan_address_is_poisoned(second + 15));
        ck_assert(__asan_address_is_poisoned(second + 16));
        arena_free(&arena);
        ck_assert(__asan_address_is_poisoned(first));
    }
}
