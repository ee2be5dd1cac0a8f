/* declaration.h: which type a declaration may have in which space.
 *
 * Measured on ptxas; the error texts are ptxas's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"
#include "ptx/item.h"

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
