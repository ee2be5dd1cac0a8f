/* table.h: hash tables from names to numbers.
 *
 * The values are the caller's own array indexes, so that iteration is over the caller's array and
 * never over hash order: nothing that is printed or written can depend on hashing. So the hash may
 * differ from process to process, and names in hostile inputs cannot be chosen to collide.
 * Keys are views that must live as long as the table. Start with `struct table t = {0};`. */
#pragma once

#include "base/text.h"

/* What table_find returns for an unknown name; no value may equal it. */
#define TABLE_NONE UINT32_MAX

struct table {
    struct table_slot *slots;
    struct table_entry *entries; /* in the order of insertion */
    size_t count;
    size_t capacity; /* slots, a power of two, or 0 */
};

/* The value stored under `key`, or TABLE_NONE. */
uint32_t table_find(const struct table *table, struct text key);

/* Stores `value` under `key` unless the key is there already; returns the value now stored
 * (`value` itself when it was new). Raises LINK_NO_MEMORY. */
uint32_t table_add(struct table *table, struct text key, uint32_t value);

/* Stores `value` under `key`, replacing what is there. Raises LINK_NO_MEMORY. */
void table_set(struct table *table, struct text key, uint32_t value);

/* Makes room for `count` more keys, so that the table need not grow while they are added. */
void table_reserve(struct table *table, size_t count);

/* The second is for CONTEXT_DEFER. */
void table_free(struct table *table);
void table_cleanup(void *table);
