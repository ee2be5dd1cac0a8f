/* key.c: feeds items to XXH3. */
#include "cache/key.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/context.h"

/* Increase this when the meaning of an item, a key or a value changes. */
#define FORMAT_VERSION 2u

enum item { ITEM_NUMBER = 1, ITEM_BYTES, ITEM_ABSENT, ITEM_LIST };

static void add_key_item(struct key *key, enum item item, const void *data, size_t size)
{
    uint8_t kind = (uint8_t)item;
    uint64_t length = size;

    XXH3_128bits_update(key->state, &kind, sizeof kind);
    XXH3_128bits_update(key->state, &length, sizeof length);
    if (size)
        XXH3_128bits_update(key->state, data, size);
}

void key_begin(struct key *key, const char *what)
{
    key->state = XXH3_createState();
    if (!key->state)
        context_raise(LINK_NO_MEMORY);
    XXH3_128bits_reset(key->state);
    key_number(key, FORMAT_VERSION);
    key_string(key, what);
}

void key_number(struct key *key, uint64_t number)
{
    add_key_item(key, ITEM_NUMBER, &number, sizeof number);
}

void key_numbers(struct key *key, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key_number(key, numbers[i]);
}

void key_text(struct key *key, struct text text)
{
    add_key_item(key, ITEM_BYTES, text.data, text.size);
}

void key_bytes(struct key *key, struct bytes bytes)
{
    add_key_item(key, ITEM_BYTES, bytes.data, bytes.size);
}

void key_string(struct key *key, const char *string)
{
    if (string)
        key_text(key, text_of(string));
    else
        add_key_item(key, ITEM_ABSENT, NULL, 0);
}

void key_strings(struct key *key, const char *const *strings)
{
    size_t count = string_list_count(strings);

    add_key_item(key, ITEM_LIST, NULL, 0);
    key_number(key, count);
    for (size_t i = 0; i < count; i++)
        key_string(key, strings[i]);
}

void key_key(struct key *key, const struct cache_key *other)
{
    add_key_item(key, ITEM_BYTES, other->bytes, sizeof other->bytes);
}

void key_variable(struct key *key, const char *name)
{
    key_string(key, name);
    key_string(key, getenv(name));
}

struct cache_key key_end(struct key *key)
{
    XXH128_canonical_t canonical;
    struct cache_key result;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(key->state));
    memcpy(result.bytes, canonical.digest, sizeof result.bytes);
    key_free(key);
    return result;
}

void key_free(void *argument)
{
    struct key *key = argument;

    XXH3_freeState(key->state);
    key->state = NULL;
}
