/* declaration.h: which type a declaration may have in which space, and a variable's initial value
 * as bytes and references. Measured on ptxas; the error texts are ptxas's. */
#pragma once

#include "ptx/module.h"

/* Role of a declaration. */
enum declaration_role {
    DECLARATION_MODULE_VARIABLE,
    DECLARATION_BODY_VARIABLE, /* a register, too */
    DECLARATION_KERNEL_PARAMETER,
    DECLARATION_FUNCTION_PARAMETER,
    DECLARATION_RETURN_PARAMETER,
};

/* Returns NULL when ptxas accepts the variable, register or parameter, else ptxas's error text, in
 * `arena`. An array of 0 elements, or open, has no bytes. */
const char *declaration_fault(struct arena *arena, const struct ptx_item *item,
                              enum declaration_role role, bool is_texmode_independent);

/* What differs between the two prototypes, for example "number of parameters"; NULL = nothing. */
const char *declaration_difference(const struct ptx_function *first,
                                   const struct ptx_function *again);

/* Returns NULL when `again`, a function or variable, may follow `first`, which has the same name in
 * the same module; else ptxas's error text, in `arena`. */
const char *declaration_clash(struct arena *arena, const struct ptx_item *first,
                              const struct ptx_item *again);

/* A place in the variable's bytes that receives an address, or part of one. They are zero. */
struct initialiser_reference {
    uint64_t offset; /* in the variable */
    struct text symbol;
    int64_t addend;  /* in bytes */
    uint64_t mask;   /* UINT64_MAX, or e.g. 0xFF00: these bits of the address, moved to bit 0 */
    uint32_t width;  /* bytes stored: 4 or 8, or 1 with a mask of one byte */
    bool is_generic; /* a generic address, else one in the symbol's own space */
    size_t place;    /* offset of the symbol's token in the module's whole text, for messages */
};

struct initialiser {
    uint8_t *bytes; /* `size` of them */
    uint64_t size;
    struct initialiser_reference *references; /* rising offsets */
    size_t reference_count;
};

/* Decodes the initialiser of a variable of `module` into `arena`. False, with an error at its
 * place, when it is malformed, has more elements than the variable, or too large numbers. */
bool initialiser_decode(struct initialiser *result, struct arena *arena,
                        const struct ptx_module *module, const struct ptx_item *item);
