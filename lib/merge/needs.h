/* needs.h: what a kernel needs because of the functions that it reaches, for attributes.c.
 */
#pragma once

#include "base/memory.h"
#include "merge/merge_steps.h"

/* Set in SPARSE_MMA_MASK for an aliased function, and one that has no mask. */
#define NEEDS_ALIAS_MASK 0x8000u

struct needs {
    struct merging *m;
    bool is_only;      /* the program has one kernel */
    bool is_twin;      /* of Mercury's records */
    bool has_changes;  /* the link drops a function, or one is outside the program */
    bool has_masks;    /* some function that is kept has SPARSE_MMA_MASK ... */
    bool lacks_masks;  /* ... and some lacks it */
    uint32_t *externs; /* of the current kernel */
    size_t extern_count;
    bool adds_externs;   /* other functions add some to those of the program's only kernel */
    uint32_t *extern_of; /* by symbol: the last kernel that listed it */
    uint32_t kernel;     /* number of the current kernel, from 1 */
    uint32_t *reached;   /* from the current kernel: functions with records, as they were read */
    size_t reached_count;
    uint16_t values[UINT8_MAX + 1]; /* by attribute: what these have together */
};

void needs_begin(struct needs *needs, struct merging *m);

/* Collects those of a function: for a kernel its own and those of all that it reaches. */
void needs_collect(struct needs *needs, uint32_t function, bool is_twin);

/* The value of a record of a kernel, with what it reaches. Measured: the program's only kernel
 * keeps its own count, and its own mask where the link leaves all functions as they are. */
uint16_t needs_value(const struct needs *needs, const struct info_record *record, uint32_t kernel);

/* Appends the words of a list (PASSES_UNION), each once. Measured: they are in the order of the
 * functions, but a kernel's own come first where there are several kernels. */
void needs_words(const struct needs *needs, uint8_t attribute, uint32_t kernel,
                 struct buffer *words);

/* Whether the list stands behind the kernel's other records. Measured: where functions add words to
 * those of the program's only kernel. */
bool needs_moves(const struct needs *needs, uint8_t attribute, uint32_t kernel);
