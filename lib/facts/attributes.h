/* attributes.h: what is known of the records of .nv.info and .nv.compat: the rows of attributes.def
 * and compat.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/toolkits.h"

enum info_attribute {
#define ATTRIBUTE(number, name, ...) EIATTR_##name = number,
#include "facts/attributes.def"
#undef ATTRIBUTE
};

/* Which words of a payload are indices of symbols. */
enum attribute_symbols {
    SYMBOLS_NO,
    SYMBOLS_1,         /* the first of two */
    SYMBOLS_PARAMETER, /* the first, unless it is 0 */
    SYMBOLS_ALL,
};

/* What a kernel gets of the functions that it reaches. A record that it lacks stands behind its
 * own. */
enum attribute_pass {
    PASSES_NOTHING,
    PASSES_FLAG,            /* it has the record if one of them has it */
    PASSES_MOST,            /* the largest value */
    PASSES_MOST_OF_SEVERAL, /* the same; but a program's only kernel keeps its own */
    PASSES_SUM,             /* the sum of all */
    PASSES_OR,              /* all bits */
    PASSES_MASK,            /* all bits, and 0x8000 for each function without the record. If some
                               function has it, all others get it with that value */
    PASSES_DEEPEST,         /* the sum along the deepest chain of calls */
    PASSES_UNION,           /* all words, each once; of AT_ENTRY_FRAGMENTS functions lose theirs */
    PASSES_PROGRAM,         /* all records become one of the program, the largest */
};

struct attribute_facts {
    uint8_t number;
    uint8_t symbols;               /* enum attribute_symbols */
    uint8_t passes;                /* enum attribute_pass, ... */
    struct toolkit_range toolkits; /* ... by the nvlink of these */
    const char *name;
};

/* A record that nvlink's finalizer appends to those of a function. */
struct finalizer_record {
    uint16_t sm;
    uint8_t attribute;
    uint16_t value;
    struct toolkit_range toolkits;
};

/* By number; where there is no row, without a name. */
extern const struct attribute_facts attributes_rows[UINT8_MAX + 1];

/* The attribute's row, or NULL. */
static inline const struct attribute_facts *attributes_find(uint8_t number)
{
    return attributes_rows[number].name ? &attributes_rows[number] : NULL;
}

/* What the toolkit's nvlink passes on; PASSES_NOTHING for an attribute without a row. */
static inline enum attribute_pass attributes_pass(uint8_t number,
                                                  const struct toolkit_facts *toolkit)
{
    const struct attribute_facts *row = &attributes_rows[number];

    return toolkit_is_in(toolkit, row->toolkits) ? (enum attribute_pass)row->passes
                                                 : PASSES_NOTHING;
}

/* The next record after `last` (NULL: the first) for code of that number; NULL after the last. */
const struct finalizer_record *attributes_of_finalizer(const struct finalizer_record *last,
                                                       unsigned sm,
                                                       const struct toolkit_facts *toolkit);

enum compat_attribute {
#define COMPAT(number, name, ...) COMPAT_##name = number,
#include "facts/compat.def"
#undef COMPAT
};

/* How the values of several inputs become one. */
enum compat_merge {
    COMPAT_DROPPED,      /* no nvlink writes it */
    COMPAT_TARGET,       /* the link's target says it */
    COMPAT_MAX,          /* the largest */
    COMPAT_MAX_UNLESS_0, /* the largest, or 0 if one is 0 */
    COMPAT_OR,           /* all bits */
    COMPAT_EQUAL_OR_1,   /* what all have, else 1 */
    COMPAT_TCGEN05,      /* see join_tcgen05() in cubin/compat.c */
    COMPAT_AND,          /* the bits of all that have it. With Mercury's sections: of all that have
                            code, and no more than the target allows */
    COMPAT_FINALIZER,    /* if all have it: the largest; with Mercury's sections the smallest, since
                            nothing here finalizes older code again as nvlink does */
    COMPAT_FINALIZER_NEEDED, /* if all have it: the largest; with Mercury's sections, of which
                                finalizers make code: the largest that one has */
};

struct compat_rule {
    uint8_t number;
    uint8_t bytes; /* of the value: 1, 2 or 8 */
    uint8_t merge; /* enum compat_merge */
    bool always;   /* written as `missing` although no input has it */
    uint16_t missing;
    struct toolkit_range written;
    uint16_t omitted;              /* the value that is not written ... */
    struct toolkit_range omitters; /* ... by these */
};

/* The record's row, or NULL. */
const struct compat_rule *compat_rule(uint8_t number);
