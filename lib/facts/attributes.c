/* attributes.c: the rows of attributes.def and compat.def. */
#include "facts/attributes.h"

static const struct finalizer_record finalizers[] = {
#define FINALIZER(sm, attribute, value, first, last) {sm, attribute, value, {first, last}},
#include "facts/attributes.def"
#undef FINALIZER
};

const struct attribute_facts attributes_rows[UINT8_MAX + 1] = {
#define ATTRIBUTE(number, name, symbols, passes, first, last)                                      \
    [number] = {number, SYMBOLS_##symbols, PASSES_##passes, {first, last}, #name},
#include "facts/attributes.def"
#undef ATTRIBUTE
};

static const struct compat_rule rules[UINT8_MAX + 1] = {
#define COMPAT(number, name, bytes, merge, missing, always, first, last, omitted, since)           \
    [number] = {number,  bytes,         COMPAT_##merge, always,                                    \
                missing, {first, last}, omitted,        {since, ONWARDS}},
#include "facts/compat.def"
#undef COMPAT
};

const struct finalizer_record *attributes_of_finalizer(const struct finalizer_record *last,
                                                       unsigned sm,
                                                       const struct toolkit_facts *toolkit)
{
    const struct finalizer_record *row = last ? last + 1 : finalizers;

    for (; row < finalizers + sizeof finalizers / sizeof *finalizers; row++)
        if (row->sm == sm && toolkit_is_in(toolkit, row->toolkits))
            return row;
    return NULL;
}

const struct compat_rule *compat_rule(uint8_t number)
{
    return rules[number].bytes ? &rules[number] : NULL;
}
