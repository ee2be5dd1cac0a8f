/* check_table.c: names chosen to meet in a hash that everybody knows do not meet in the table. */
#include "base/table.c" /* for the slots */
#include "suite.h"

#include <xxhash.h>

#define NAMES     500u
#define NAME_SIZE 12u

/* Names whose XXH3 without a seed ends in ten zero bits: in a table of 1,024 slots all of them
 * would begin in the first. */
static char (*colliding_names(void))[NAME_SIZE]
{
    char(*names)[NAME_SIZE] = calloc(NAMES, sizeof *names);
    unsigned found = 0;

    for (unsigned i = 0; found < NAMES; i++) {
        int size = snprintf(names[found], NAME_SIZE, "f%u", i);

        if ((XXH3_64bits(names[found], (size_t)size) & 0x3ff) == 0)
            found++;
    }
    return names;
}

/* How many slots table_find looks at for `key`. */
static size_t table_steps(const struct table *table, struct text key)
{
    uint32_t hash = hash_of(key);
    size_t first = hash & (table->capacity - 1);

    return ((size_t)(probe(table, key, hash) - table->slots) - first) % table->capacity + 1;
}

TEST(chosen_names_do_not_collide)
{
    char(*names)[NAME_SIZE] = colliding_names();
    OWNED(table) table = {0};
    size_t steps = 0;

    for (unsigned i = 0; i < NAMES; i++)
        ck_assert_uint_eq(table_add(&table, text_of(names[i]), i), i);
    for (unsigned i = 0; i < NAMES; i++) {
        ck_assert_uint_eq(table_find(&table, text_of(names[i])), i);
        steps += table_steps(&table, text_of(names[i]));
    }
    /* One and a half each are to be expected; without a seed they are 250. */
    ck_assert_msg(steps < 8 * NAMES, "%zu steps for %u names", steps, NAMES);
    free(names);
}

TEST(what_was_stored_is_found_also_after_growing)
{
    OWNED(table) table = {0};
    char names[1000][NAME_SIZE];

    ck_assert_uint_eq(table_find(&table, TEXT("n0")), TABLE_NONE);
    table_add(&table, (struct text){0}, 7);
    table_reserve(&table, 100);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(names[i], NAME_SIZE, "n%u", i);
        table_set(&table, text_of(names[i]), i);
    }
    ck_assert_uint_eq(table_find(&table, (struct text){0}), 7);
    ck_assert_uint_eq(table_find(&table, TEXT("n999")), 999);
    ck_assert_uint_eq(table_find(&table, TEXT("n1000")), TABLE_NONE);
    ck_assert_uint_eq(table_add(&table, TEXT("n5"), 1), 5);
    table_set(&table, TEXT("n5"), 1);
    ck_assert_uint_eq(table_find(&table, TEXT("n5")), 1);
}
