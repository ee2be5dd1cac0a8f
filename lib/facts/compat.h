/* compat.h: what is known of the records of .nv.compat: the rows of compat.def. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "facts/toolkits.h"

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
