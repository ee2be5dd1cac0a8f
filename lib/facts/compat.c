/* compat.c: searches the rows of compat.def. */
#include "facts/compat.h"

#include <stddef.h>

static const struct compat_rule rules[] = {
#define COMPAT(number, name, bytes, merge, missing, always, first, last, omitted, since)           \
    {number, bytes, COMPAT_##merge, always, missing, {first, last}, omitted, {since, ONWARDS}},
#include "facts/compat.def"
#undef COMPAT
};

const struct compat_rule *compat_rule(uint8_t number)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].number == number)
            return &rules[i];
    return NULL;
}
