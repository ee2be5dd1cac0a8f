/* format.c: names of the EM_CUDA format's numbers, for dumps.
 *
 * The names are the public ones (see format.h), attributes without EIATTR_. Numbers without a
 * public name have none here either. */
#include "cubin/format.h"

#include "facts/attributes.h"
#include "facts/targets.h"

#include <stddef.h>

/* Measured: nvlink writes these bytes into every executable, on every architecture. */
const uint8_t format_rel_action[NV_REL_ACTION_SIZE] = {0x73, 0, 0, 0,    0,    0, 0,    0,
                                                       0,    0, 0, 0x11, 0x25, 0, 0x05, 0x36};

uint32_t format_target_flags(unsigned sm)
{
    return (targets_have(sm, TARGET_HAS_MERCURY) ? CUBIN_FLAGS_CLASS_SM100
                                                 : CUBIN_FLAGS_CLASS_SM90) |
           (sm & 0xffu) << CUBIN_FLAGS_SM_SHIFT;
}

bool format_is_nobits(uint32_t type)
{
    return type == SHT_NOBITS || type == SHT_CUDA_GLOBAL || type == SHT_CUDA_LOCAL ||
           type == SHT_CUDA_SHARED || type == SHT_CUDA_RESERVED_SHARED;
}

bool format_is_constant(uint32_t type)
{
    return type >= SHT_CUDA_CONSTANT0 && type <= SHT_CUDA_CONSTANT_LAST;
}

const char *format_attribute_name(uint8_t attribute)
{
    const struct attribute_facts *facts = attributes_find(attribute);

    return facts ? facts->name : NULL;
}
