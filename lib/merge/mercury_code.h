/* mercury_code.h: the fields in the twin of code that the link fills in: offsets in loads from
 * constant banks, which are found by their kind and order (minilink-cubin(5), Mercury). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/relocate.h"

/* Kinds of loads, by bank and uniformity. */
enum mercury_load {
    MERCURY_LOAD_UNIFORM,   /* uniform, of .nv.constant.user */
    MERCURY_LOAD_USER,      /* of .nv.constant.user */
    MERCURY_LOAD_OPTIMIZER, /* of .nv.constant.optimizer.F */
    MERCURY_LOAD_REFERENCE, /* of .nv.constant.entry_image_header_indices.F, in kernels' names */
    MERCURY_LOAD_COUNT,
};

/* Writes `values` into the fields of the loads of that kind, in order. If the section (`size` bytes
 * at `data`) is not made as expected, or does not have exactly `count` such loads, writes nothing
 * and returns false. */
bool mercury_code_patch(uint8_t *data, size_t size, enum mercury_load load, const uint16_t *values,
                        size_t count);

/* Notes the offset of a constant that the code loads, in the bank, for mercury_code_fill(); the
 * target's instructions have a relocation against it, too, which tells the kind of load. If it has
 * none, the twins are left out. */
void mercury_code_add_constant(struct relocation_list *list, uint32_t symbol);

/* The same for the word of a texture, sampler or surface reference. */
void mercury_code_add_reference(struct relocation_list *list, uint32_t symbol);

/* Writes what was noted into the code; the twins are left out if it has other loads. */
void mercury_code_fill(struct relocation_list *list);
