/* relocate.h: a list of relocations while it is processed, for relocate.c, relocations.c and
 * mercury_code.c. */
#pragma once

#include "facts/relocation_types.h"
#include "merge/placing.h"

/* An offset in a constant bank that goes into the twin of code. */
struct mercury_operand {
    uint64_t offset; /* of the relocation, gives the order */
    uint16_t value;
    uint8_t load; /* enum mercury_load */
};

struct relocation_list {
    struct merging *m;
    size_t file;
    const struct cubin *cubin;
    const struct cubin_section *input;         /* the list */
    const struct cubin_section *target;        /* the section that it applies to */
    struct merged_place place;                 /* where the target went */
    const struct cubin_relocation *relocation; /* the current one */
    const struct relocation_facts *facts;      /* of its type */
    uint32_t storage;  /* the target, or the plain section of a twin of data */
    bool is_twin;      /* it is Mercury's */
    bool is_twin_code; /* its target is the twin of code */
    bool is_debug;
    bool forgets_losers; /* the target omits functions' losing copies */
    bool has_addends;    /* else addends are in the fields */
    /* Of the twin of code: */
    const struct cubin_section *plain; /* relocations of the code, or NULL */
    size_t plain_next;
    struct mercury_operand *operands;
    size_t operand_count;
    size_t operand_capacity;
};

/* relocation_lists.c: */

/* Adds a relocation that is kept to the output's list for the target: against a symbol, or a merged
 * section and MERGE_NONE. */
void relocations_keep(const struct relocation_list *list, uint32_t type, uint32_t symbol,
                      uint32_t section, int64_t addend);

/* The same for one that is resolved, if these are listed. */
void relocations_preserve(const struct relocation_list *list, uint32_t symbol, uint32_t section,
                          int64_t addend);

/* Reports why a relocation is refused. */
void relocate_refuse(struct relocation_list *list, const char *why);

/* Relocates the list for one of the places of its target. */
void relocate_list(struct relocation_list *list, struct merged_place place);
