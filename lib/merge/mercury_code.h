/* mercury_code.h: the fields in the twin of code that the link fills in.
 *
 * The twin holds the instructions of the intermediate form that the target's instructions do not
 * tell; a relocation's offset counts bytes of the whole form, so that it does not say where in the
 * section the field is. Only loads from constant banks have such fields, and they are found by
 * their kind and order. Nothing else of the code is looked into. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which loads, by the bank and by whether they are uniform. */
enum mercury_load {
    MERCURY_LOAD_UNIFORM,   /* uniform, of .nv.constant.user */
    MERCURY_LOAD_USER,      /* of .nv.constant.user */
    MERCURY_LOAD_OPTIMIZER, /* of .nv.constant.optimizer.F */
    MERCURY_LOAD_IMAGE,     /* uniform, of .nv.constant.entry_image_header_indices.F */
    MERCURY_LOAD_COUNT,
};

/* Writes `values` into the fields of the loads of that kind, in order. False, and nothing is
 * written, when the section (`size` bytes at `data`) is not made as expected, or does not have
 * exactly `count` such loads. */
bool mercury_code_patch(uint8_t *data, size_t size, enum mercury_load load, const uint16_t *values,
                        size_t count);
