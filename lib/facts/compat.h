/* compat.h: what is known of the records of .nv.compat: the rows of compat.def. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "facts/toolkits.h"

/* How the values of several inputs become one. */
enum compat_merge {
    COMPAT_DROPPED,      /* no nvlink writes it */
    COMPAT_TARGET,       /* the link's target says it */
    COMPAT_MAX,          /* the largest */
    COMPAT_MAX_UNLESS_0, /* the largest, or 0 if one is 0 */
    COMPAT_OR,           /* all bits */
    COMPAT_EQUAL_OR_1,   /* what all have, else 1 */
    COMPAT_TCGEN05,      /* see compat_join_tcgen05() */
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
    uint16_t missing;
    const char *name;
    struct toolkit_range written;
    uint16_t omitted;              /* the value that is not written ... */
    struct toolkit_range omitters; /* ... by these */
};

/* The record's row, or NULL. */
const struct compat_rule *compat_rule(uint8_t number);

/* Whether the toolkit's nvlink writes the record although no input has it. */
bool compat_is_default(uint8_t number, const struct toolkit_facts *toolkit);

/* INST_TCGEN05_MMA of two inputs together. 1 to 3 and 5 to 7 are two scales, of which the second
 * does without the first's restriction; 4 and 8 go with nothing of the first; 0 goes with nothing.
 */
uint16_t compat_join_tcgen05(uint16_t a, uint16_t b);
