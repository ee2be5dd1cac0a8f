/* mercury_code.h: the fields in the twin of code that the link fills in.
 *
 * The twin holds only those instructions of the intermediate form that cannot be derived from the
 * target's instructions. A relocation's offset counts bytes of the whole intermediate form, so it
 * does not give the field's place in the section. Only loads from constant banks have such fields;
 * they are found by their kind and order. Nothing else of the code is interpreted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
