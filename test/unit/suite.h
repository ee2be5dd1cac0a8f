/* suite.h: how a check_*.c names its tests, which the shared main runs in their order: each is a
 * test case of its name (CK_RUN_CASE). With it come the headers that nearly every test needs. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a test of a table loops: once for each row. */
#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* What printf() would write; it stays until 63 more were made. */
char *suite_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Before a declaration in a block, OWNED(buffer) text = {0}: a structure that is freed at the end
 * of the block, by the function of its name. */
#define OWNED(name) __attribute__((cleanup(name##_free))) struct name

/* The same for a pointer to what malloc() gave: FREED char *text = ... */
#define FREED __attribute__((cleanup(suite_free)))

static inline void suite_free(void *pointer)
{
    void *block;

    memcpy(&block, pointer, sizeof block);
    free(block);
}

/* A test; the function's body follows. */
#define TEST(name) TEST_LOOP(name, 1)

/* A test that runs once for each _i below `count`, or for each from `first` to below `end`. */
#define TEST_LOOP(name, count) TEST_RANGE(name, 0, count)
#define TEST_RANGE(name, first, end)                                                               \
    static const TTest *name;                                                                      \
    __attribute__((constructor)) static void add_test_##name(void)                                 \
    {                                                                                              \
        suite_add(name, first, end);                                                               \
    }                                                                                              \
    START_TEST(name)

void suite_add(const TTest *test, int first, int end);

/* What is done before and after each test, in a program that defines it. */
__attribute__((weak)) void set_up(void);
__attribute__((weak)) void tear_down(void);
