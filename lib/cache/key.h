/* key.h: what a result depends on, in 128 bits.
 *
 * A key is the XXH3 hash of a row of items. Each item is hashed with its kind and its length in
 * front, so that no two different rows are the same bytes. XXH3 is no cryptographic hash: it keeps
 * chance away, not somebody who looks for two programs with one key (minilink(1), Cache). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define CACHE_KEY_SIZE 16u

struct cache_key {
    uint8_t bytes[CACHE_KEY_SIZE]; /* the hash, most significant byte first */
};

/* A key that is being made; `state` belongs to libxxhash. */
struct key {
    void *state;
};

/* Begins a key. `what` says what is kept under it: rows for different things never meet. Ended by
 * key_end() or key_free(). */
void key_begin(struct key *key, const char *what);

void key_number(struct key *key, uint64_t number);
void key_text(struct key *key, struct text text);
void key_bytes(struct key *key, struct bytes bytes);
void key_string(struct key *key, const char *string); /* NULL is not "" */

/* A list that ends with NULL; NULL is the empty one. */
void key_strings(struct key *key, const char *const *strings);

/* A key that was made before, as an item of this one. */
void key_key(struct key *key, const struct cache_key *other);

/* The value of a variable of the environment, and whether there is one. */
void key_variable(struct key *key, const char *name);

struct cache_key key_end(struct key *key);

/* Frees a key that is not ended. Accepts one that is, and {0}. For CONTEXT_DEFER. */
void key_free(void *key);
