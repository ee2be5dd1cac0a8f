/* relocate.h: a list of relocations while it is processed. */
#pragma once

#include "facts/cubins.h"
#include "merge/internal.h"

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

/* Reports why the current relocation is refused. */
void relocate_refuse(struct relocation_list *list, const char *why);

/* mercury_code.c: the fields in the twin of code that the link fills in: offsets in loads from
 * constant banks, which are found by their kind and order (minilink-cubin(5), Mercury). */

/* Kinds of loads, by bank and uniformity. */
enum mercury_load {
    MERCURY_LOAD_UNIFORM,   /* uniform, of .nv.constant.user */
    MERCURY_LOAD_USER,      /* of .nv.constant.user */
    MERCURY_LOAD_OPTIMIZER, /* of .nv.constant.optimizer.F */
    MERCURY_LOAD_REFERENCE, /* of .nv.constant.entry_image_header_indices.F, in kernels' names */
    MERCURY_LOAD_COUNT,
};

/* Writes the operands, which are sorted by load and offset, into the code: `size` bytes at `data`.
 * False if it is not made as expected, or has another number of such loads; it is of no use then.
 */
bool mercury_code_patch(uint8_t *data, size_t size, const struct mercury_operand *operands,
                        size_t count);

/* Notes the offset of a constant that the code loads, in the bank, for mercury_code_fill(); the
 * target's instructions have a relocation against it, too, which tells the kind of load. If it has
 * none, the twins are left out. False if that kind is not known. */
bool mercury_code_add_constant(struct relocation_list *list, uint32_t symbol);

/* The same for the word of a texture, sampler or surface reference. */
void mercury_code_add_reference(struct relocation_list *list, uint32_t symbol);

/* Writes what was noted into the code; the twins are left out if it has other loads. */
void mercury_code_fill(struct relocation_list *list);
