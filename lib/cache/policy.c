/* policy.c: a table row for each key, with the units that its number can have. */
#include "cache/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

const struct cache_policy cache_policy_default = {
    .percent = 75,
    .files = 1000000,
    .expiry = UINT64_C(7) * 24 * 60 * 60,
    .interval = UINT64_C(20) * 60,
};

struct unit {
    char letter;
    uint64_t factor;
};

/* Each list ends with letter 0; if that row's factor is not 0, the number can have no unit. */
static const struct unit percents[] = {{'%', 1}, {0, 0}};
static const struct unit sizes[] = {
    {'k', UINT64_C(1) << 10}, {'m', UINT64_C(1) << 20}, {'g', UINT64_C(1) << 30}, {0, 1}};
static const struct unit counts[] = {{0, 1}};
static const struct unit durations[] = {{'s', 1},     {'m', 60},        {'h', 3600},
                                        {'d', 86400}, {'w', 7 * 86400}, {0, 0}};

static const struct key {
    const char *name;
    const struct unit *units;
    const char *expected;
    uint64_t most;
    size_t field;
} keys[] = {
    {"cache_size", percents, "a percentage up to 100%", 100,
     offsetof(struct cache_policy, percent)},
    {"cache_size_bytes", sizes, "a number of bytes, or one with k, m or g behind it", UINT64_MAX,
     offsetof(struct cache_policy, bytes)},
    {"cache_size_files", counts, "a number", UINT64_MAX, offsetof(struct cache_policy, files)},
    {"prune_after", durations, "a number with s, m, h, d or w behind it", INT64_MAX,
     offsetof(struct cache_policy, expiry)},
    {"prune_interval", durations, "a number with s, m, h, d or w behind it", INT64_MAX,
     offsetof(struct cache_policy, interval)},
};

/* Ignores case. NULL when the number may not have the unit `letter`, or must have one. */
static const struct unit *find_unit(const struct unit *units, char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        letter = (char)(letter - 'A' + 'a');
    while (units->letter && units->letter != letter)
        units++;
    return units->factor && units->letter == letter ? units : NULL;
}

/* The value ends at a colon or at the end of a string. */
static bool read_value(const struct key *key, struct text value, uint64_t *number)
{
    const struct unit *unit;
    char *end;

    if (value.size == 0 || *value.data < '0' || *value.data > '9')
        return false;
    errno = 0;
    *number = strtoull(value.data, &end, 10);
    value = text_drop(value, (size_t)(end - value.data));
    unit = value.size <= 1 ? find_unit(key->units, value.size ? *value.data : '\0') : NULL;
    return !errno && unit && !__builtin_mul_overflow(*number, unit->factor, number) &&
           *number <= key->most;
}

/* Length of the part of the faulty text that is shown. */
static int shown(struct text text)
{
    return text.size < 64 ? (int)text.size : 64;
}

static bool read_pair(struct cache_policy *policy, struct text pair, char *error)
{
    const char *equals = memchr(pair.data, '=', pair.size);
    size_t size = equals ? (size_t)(equals - pair.data) : pair.size;
    struct text name = {pair.data, size};
    struct text value = {pair.data + size + (equals != NULL), pair.size - size - (equals != NULL)};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint64_t number;

        if (!text_equal(name, text_of(keys[i].name)))
            continue;
        if (read_value(&keys[i], value, &number)) {
            memcpy((char *)policy + keys[i].field, &number, sizeof number);
            return true;
        }
        snprintf(error, CACHE_POLICY_ERROR_SIZE, "'%.*s' of '%s' is not %s", shown(value),
                 value.data, keys[i].name, keys[i].expected);
        return false;
    }
    snprintf(error, CACHE_POLICY_ERROR_SIZE,
             "'%.*s' is no key; known are cache_size, cache_size_bytes, cache_size_files, "
             "prune_after and prune_interval",
             shown(name), name.data);
    return false;
}

bool cache_policy_read(struct cache_policy *policy, const char *text,
                       char error[CACHE_POLICY_ERROR_SIZE])
{
    struct cache_policy result = cache_policy_default;

    while (*text) {
        size_t size = strcspn(text, ":");

        if (!read_pair(&result, (struct text){text, size}, error))
            return false;
        text += size + (text[size] == ':');
    }
    *policy = result;
    return true;
}
