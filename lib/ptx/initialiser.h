/* initialiser.h: a variable's initial value as bytes and references.
 *
 * Elements are numbers or addresses: g, g+8, generic(g), generic(g)+8, and 0xFF00(g), one byte of
 * an address. Nested braces are rows of arrays; omitted elements are zero. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"
#include "ptx/module.h"

/* A place in the variable's bytes that receives an address, or part of one. The bytes there are
 * zero. */
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
 * place, when it is malformed, has more elements than the variable, or numbers that are too large.
 */
bool initialiser_decode(struct initialiser *result, struct arena *arena,
                        const struct ptx_module *module, const struct ptx_item *item);

/* How many elements of the open dimension the initial value "{a, b, {c, d}}" has. */
uint64_t initialiser_count(struct text initialiser);
