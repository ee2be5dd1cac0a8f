/* table.c: open addressing with linear probing, at most three quarters full; XXH3 for the hash,
 * with a per-process secret, so that nobody can choose names that collide. Slots are small, since
 * they are accessed at random: keys and values are in an array of their own, in the order of
 * insertion, and stay there when the slots grow. */
#include "base/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "base/memory.h"

struct table_slot {
    uint32_t hash;  /* low bits of the hash, compared before the key */
    uint32_t entry; /* its index plus 1; 0 = empty */
};

/* A key's size has 32 bits: a large link has a hundred thousand entries at a time. */
struct table_entry {
    const char *key;
    uint32_t size;
    uint32_t value;
};

#define SECRET_SIZE 192u /* XXH3's own has as many bytes; XXH3_SECRET_SIZE_MIN is 136 */

static uint8_t secret[SECRET_SIZE]; /* set before the first table has slots */
static pthread_once_t secret_made = PTHREAD_ONCE_INIT;

/* Uses the clock and the stack's address if the kernel has no random numbers. */
static void make_secret(void)
{
    struct timespec now = {0};

    if (getrandom(secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    for (uint64_t i = 0; i < SECRET_SIZE; i += sizeof i) {
        uint64_t word = XXH3_64bits_withSeed(&now, sizeof now, (uintptr_t)&now + i);

        memcpy(secret + i, &word, sizeof word);
    }
}

/* The slot that has `key`, or is free for it. */
static struct table_slot *probe(const struct table *table, struct text key, uint32_t hash)
{
    size_t mask = table->capacity - 1;
    struct table_slot *slot;

    for (size_t at = hash & mask; (slot = &table->slots[at])->entry; at = (at + 1) & mask) {
        const struct table_entry *entry = &table->entries[slot->entry - 1];

        if (slot->hash == hash && text_equal((struct text){entry->key, entry->size}, key))
            break;
    }
    return slot;
}

static uint32_t hash_of(struct text key)
{
    return (uint32_t)XXH3_64bits_withSecret(key.data, key.size, secret, sizeof secret);
}

static void place_slot(const struct table *table, struct table_slot slot)
{
    size_t mask = table->capacity - 1;
    size_t at = slot.hash & mask;

    while (table->slots[at].entry)
        at = (at + 1) & mask;
    table->slots[at] = slot;
}

static size_t most_entries(size_t capacity)
{
    return capacity / 4 * 3;
}

static void resize(struct table *table, size_t capacity)
{
    struct table bigger = {.count = table->count, .capacity = capacity};
    size_t room = most_entries(table->capacity);

    pthread_once(&secret_made, make_secret);
    table->entries =
        memory_grow(table->entries, &room, most_entries(capacity), sizeof *table->entries);
    bigger.entries = table->entries;
    bigger.slots = memory_zalloc(capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].entry)
            place_slot(&bigger, table->slots[i]);
    free(table->slots);
    *table = bigger;
}

void table_reserve(struct table *table, size_t count)
{
    size_t capacity = table->capacity ? table->capacity : 64;

    if (count > (SIZE_MAX >> 8) - table->count)
        return; /* growing will raise */
    while (most_entries(capacity) <= table->count + count)
        capacity *= 2;
    if (capacity > table->capacity)
        resize(table, capacity);
}

uint32_t table_find(const struct table *table, struct text key)
{
    const struct table_slot *slot = table->capacity ? probe(table, key, hash_of(key)) : NULL;

    return slot && slot->entry ? table->entries[slot->entry - 1].value : TABLE_NONE;
}

/* The entry of `key`, made with `value` when it is new. */
static struct table_entry *entry_for(struct table *table, struct text key, uint32_t value)
{
    struct table_slot *slot;
    uint32_t hash;

    if (table->count >= most_entries(table->capacity))
        resize(table, table->capacity ? table->capacity * 2 : 64);
    hash = hash_of(key);
    slot = probe(table, key, hash);
    if (!slot->entry) {
        if (key.size > UINT32_MAX)
            context_raise(LINK_NO_MEMORY);
        table->entries[table->count++] = (struct table_entry){key.data, (uint32_t)key.size, value};
        *slot = (struct table_slot){hash, (uint32_t)table->count};
    }
    return &table->entries[slot->entry - 1];
}

uint32_t table_add(struct table *table, struct text key, uint32_t value)
{
    return entry_for(table, key, value)->value;
}

void table_set(struct table *table, struct text key, uint32_t value)
{
    entry_for(table, key, value)->value = value;
}

void table_free(struct table *table)
{
    free(table->slots);
    free(table->entries);
    *table = (struct table){0};
}

void table_cleanup(void *table)
{
    table_free(table);
}
