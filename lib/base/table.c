/* table.c: open addressing with linear probing, at most half full; XXH3 for the hash, with a secret
 * of this process, so that nobody can choose names that meet in one slot. */
#include "base/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <xxhash.h>

#include "base/memory.h"

struct table_slot {
    struct text key;
    uint32_t hash; /* low bits of the hash, compared before the key */
    uint32_t value;
    /* An empty slot has value TABLE_NONE. */
};

#define SECRET_SIZE 192u /* XXH3's own has as many bytes; XXH3_SECRET_SIZE_MIN is 136 */

static uint8_t secret[SECRET_SIZE]; /* set before the first table has slots */
static pthread_once_t secret_made = PTHREAD_ONCE_INIT;

/* Without the kernel's random numbers the clock and where the stack is must do. */
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

static struct table_slot *probe(const struct table *table, struct text key, uint32_t hash)
{
    size_t mask = table->capacity - 1;
    size_t at = hash & mask;

    while (table->slots[at].value != TABLE_NONE &&
           !(table->slots[at].hash == hash && text_equal(table->slots[at].key, key)))
        at = (at + 1) & mask;
    return &table->slots[at];
}

static uint32_t hash_of(struct text key)
{
    return (uint32_t)XXH3_64bits_withSecret(key.data, key.size, secret, sizeof secret);
}

static void resize(struct table *table, size_t capacity)
{
    struct table bigger = {.capacity = capacity};

    pthread_once(&secret_made, make_secret);
    bigger.slots = memory_alloc(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < bigger.capacity; i++)
        bigger.slots[i] = (struct table_slot){.value = TABLE_NONE};
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].value != TABLE_NONE)
            *probe(&bigger, table->slots[i].key, table->slots[i].hash) = table->slots[i];
    bigger.count = table->count;
    free(table->slots);
    *table = bigger;
}

static void grow(struct table *table)
{
    resize(table, table->capacity ? table->capacity * 2 : 64);
}

void table_reserve(struct table *table, size_t count)
{
    size_t capacity = table->capacity ? table->capacity : 64;

    if (count > (SIZE_MAX >> 8) - table->count)
        return; /* growing will tell */
    while (capacity <= (table->count + count) * 2)
        capacity *= 2;
    if (capacity > table->capacity)
        resize(table, capacity);
}

uint32_t table_find(const struct table *table, struct text key)
{
    return table->capacity ? probe(table, key, hash_of(key))->value : TABLE_NONE;
}

size_t table_steps(const struct table *table, struct text key)
{
    size_t mask = table->capacity - 1;
    uint32_t hash;

    if (!table->capacity)
        return 0;
    hash = hash_of(key);
    return (((size_t)(probe(table, key, hash) - table->slots) - hash) & mask) + 1;
}

static struct table_slot *slot_for(struct table *table, struct text key)
{
    struct table_slot *slot;
    uint32_t hash;

    if (table->count * 2 >= table->capacity)
        grow(table);
    hash = hash_of(key);
    slot = probe(table, key, hash);
    if (slot->value == TABLE_NONE) {
        slot->key = key;
        slot->hash = hash;
        table->count++;
    }
    return slot;
}

uint32_t table_add(struct table *table, struct text key, uint32_t value)
{
    struct table_slot *slot = slot_for(table, key);

    if (slot->value == TABLE_NONE)
        slot->value = value;
    return slot->value;
}

void table_set(struct table *table, struct text key, uint32_t value)
{
    slot_for(table, key)->value = value;
}

void table_free(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}

void table_cleanup(void *table)
{
    table_free(table);
}
