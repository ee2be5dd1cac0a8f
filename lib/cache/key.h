/* key.h: 128-bit hash of everything that a result depends on.
 *
 * A key is the XXH3 hash of a sequence of items. Each item is hashed with its kind and its length
 * before it, so that no two different sequences have the same bytes. XXH3 is not a cryptographic
 * hash: it protects against chance, not against somebody who constructs two programs with the same
 * key (minilink(1), Cache). */
#pragma once

#include "base/text.h"

#define CACHE_KEY_SIZE 16u

struct cache_key {
    uint8_t bytes[CACHE_KEY_SIZE]; /* the hash, most significant byte first */
};

/* A key that is being built; `state` belongs to libxxhash. */
struct key {
    void *state;
};

/* Begins a key. `what` names the kind of result: keys for different kinds never collide. End it
 * with key_end() or key_free(). */
void key_begin(struct key *key, const char *what);

void key_number(struct key *key, uint64_t number);
void key_numbers(struct key *key, const uint64_t *numbers, size_t count);
#define KEY_NUMBERS(key, ...)                                                                      \
    key_numbers((key), (const uint64_t[]){__VA_ARGS__},                                            \
                sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))
void key_text(struct key *key, struct text text);
void key_bytes(struct key *key, struct bytes bytes);
void key_string(struct key *key, const char *string); /* NULL is not "" */

/* A list that ends with NULL; NULL is the empty one. */
void key_strings(struct key *key, const char *const *strings);

/* Adds a finished key as an item. */
void key_key(struct key *key, const struct cache_key *other);

/* Adds the value of an environment variable, and whether it is set. */
void key_variable(struct key *key, const char *name);

struct cache_key key_end(struct key *key);

/* Frees an unfinished key. Accepts a finished one, and {0}. For CONTEXT_DEFER. */
void key_free(void *key);
