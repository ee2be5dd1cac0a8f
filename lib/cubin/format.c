/* format.c: properties of the EM_CUDA format's numbers. */
#include "cubin/format.h"

#include "facts/targets.h"

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
