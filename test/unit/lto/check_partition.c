/* check_partition.c: how many parts a program is worth, and which kernels each gets. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lto/internal.h"
#include "suite.h"

#define MOST 1000u

static struct arena arena;
static struct lto_kernel kernels[MOST];

void set_up(void)
{
    memset(kernels, 0, sizeof kernels);
}

void tear_down(void)
{
    arena_free(&arena);
    arena = (struct arena){0};
}

/* Kernels that cost 1 to `most`, by a fixed pseudo-random sequence. */
static void make_kernels(size_t count, uint32_t most)
{
    uint32_t seed = 1;

    for (size_t i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        kernels[i].cost = 1 + (seed >> 16) % most;
    }
}

/* What the costliest and the cheapest part cost. */
static void add_up(const uint32_t *parts, size_t count, uint32_t part_count, uint64_t *most,
                   uint64_t *least)
{
    uint64_t *loads = arena_zalloc(&arena, part_count, sizeof *loads);

    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_lt(parts[i], part_count);
        loads[parts[i]] += kernels[i].cost;
    }
    *most = *least = loads[0];
    for (uint32_t i = 1; i < part_count; i++) {
        *most = loads[i] > *most ? loads[i] : *most;
        *least = loads[i] < *least ? loads[i] : *least;
    }
}

TEST(small_programs_are_worth_one_part)
{
    ck_assert_uint_eq(lto_kernels_part_count(0, 0), 1);
    ck_assert_uint_eq(lto_kernels_part_count(0, 100), 1);
    ck_assert_uint_eq(lto_kernels_part_count(20000, 100), 1);
    ck_assert_uint_eq(lto_kernels_part_count(UINT64_C(1) << 40, 1), 1);
    ck_assert_uint_eq(lto_kernels_part_count(UINT64_C(1) << 40, 7), 1);
}

TEST(parts_grow_with_the_program_and_stay_worth_it)
{
    uint32_t last = 1;

    ck_assert_uint_eq(lto_kernels_part_count(UINT64_C(1) << 40, 8), 2);
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 62; bytes *= 2) {
        uint32_t count = lto_kernels_part_count(bytes, 100000);
        uint64_t again = 2200 + bytes / 150;

        ck_assert_uint_ge(count, last);
        /* What is paid again is a twentieth at most. */
        ck_assert_uint_le((count - 1) * again, bytes / 20 + 1);
        ck_assert_uint_eq(count & (count - 1), 0);
        last = count;
    }
    ck_assert_uint_eq(last, 8);
}

TEST(every_part_costs_about_as_much)
{
    static const uint32_t counts[] = {1, 2, 3, 8, 16, 100};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t total = 0, most, least;

        make_kernels(MOST, 100);
        for (size_t k = 0; k < MOST; k++)
            total += kernels[k].cost;
        add_up(lto_kernels_deal(&arena, kernels, MOST, counts[i]), MOST, counts[i], &most, &least);
        /* A bundle, or a kernel, is all that parts differ by. */
        ck_assert_uint_le(most - least, total / (8 * counts[i]) + 100);
    }
}

TEST(no_part_is_empty)
{
    for (uint32_t count = 1; count <= 40; count++) {
        for (uint32_t parts = 1; parts <= count; parts++) {
            uint64_t most, least;

            make_kernels(count, count % 2 ? 1 : 1000000);
            add_up(lto_kernels_deal(&arena, kernels, count, parts), count, parts, &most, &least);
            ck_assert_uint_gt(least, 0);
        }
    }
}

TEST(one_costly_kernel_has_a_part_of_its_own)
{
    uint32_t *parts;

    make_kernels(100, 1);
    kernels[40].cost = 1000;
    parts = lto_kernels_deal(&arena, kernels, 100, 4);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert(i == 40 || parts[i] != parts[40]);
}

TEST(neighbours_stay_together)
{
    uint32_t *parts;
    unsigned changes = 0;

    make_kernels(MOST, 1);
    parts = lto_kernels_deal(&arena, kernels, MOST, 4);
    for (uint32_t i = 1; i < MOST; i++)
        changes += parts[i] != parts[i - 1];
    ck_assert_uint_le(changes, 4 * 8 + 4);
}

TEST(the_same_kernels_are_dealt_the_same_way)
{
    uint32_t *parts, *again;

    make_kernels(MOST, 50);
    parts = lto_kernels_deal(&arena, kernels, MOST, 7);
    again = lto_kernels_deal(&arena, kernels, MOST, 7);
    ck_assert_mem_eq(parts, again, MOST * sizeof *parts);
}
