/* compat.c: searches the rows of compat.def. */
#include "facts/compat.h"

#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct compat_rule rules[] = {
#define COMPAT(number, name, bytes, merge, missing, first, last, omitted, since)                   \
    {number, bytes, COMPAT_##merge, missing, name, {first, last}, omitted, {since, ONWARDS}},
#define DEFAULT(number, first, last)
#include "facts/compat.def"
#undef COMPAT
#undef DEFAULT
};

static const struct {
    uint8_t number;
    struct toolkit_range toolkits;
} defaults[] = {
#define COMPAT(number, name, bytes, merge, missing, first, last, omitted, since)
#define DEFAULT(number, first, last) {number, {first, last}},
#include "facts/compat.def"
#undef COMPAT
#undef DEFAULT
};

const struct compat_rule *compat_rule(uint8_t number)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if (rules[i].number == number)
            return &rules[i];
    return NULL;
}

bool compat_is_default(uint8_t number, const struct toolkit_facts *toolkit)
{
    for (size_t i = 0; i < COUNT_OF(defaults); i++)
        if (defaults[i].number == number)
            return toolkit_is_in(toolkit, defaults[i].toolkits);
    return false;
}

/* 0 for 1 to 3, 1 for 5 to 7, 2 for others. */
static unsigned scale_of(uint16_t value)
{
    return value >= 1 && value <= 3 ? 0 : value >= 5 && value <= 7 ? 1 : 2;
}

uint16_t compat_join_tcgen05(uint16_t a, uint16_t b)
{
    unsigned x = scale_of(a), y = scale_of(b);

    if (a == 0 || b == 0 || (x == 0 && y == 2) || (x == 2 && y == 0))
        return 0;
    if (x == y)
        return a > b ? a : b;
    if (x == 2 || y == 2)
        return x == 2 ? a : b;
    a = x == 1 ? (uint16_t)(a - 4) : a;
    b = y == 1 ? (uint16_t)(b - 4) : b;
    return a > b ? a : b;
}
