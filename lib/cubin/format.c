/* format.c: names of the EM_CUDA format's numbers, for dumps.
 *
 * The names are the public ones (see format.h), attributes without EIATTR_. Numbers without a
 * public name have none here either. */
#include "cubin/format.h"

#include "facts/attributes.h"
#include "facts/targets.h"

#include <stddef.h>

#include "base/search.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Measured: nvlink writes these bytes into every executable, on every architecture. */
const uint8_t format_rel_action[NV_REL_ACTION_SIZE] = {0x73, 0, 0, 0,    0,    0, 0,    0,
                                                       0,    0, 0, 0x11, 0x25, 0, 0x05, 0x36};

struct number_name {
    uint32_t number;
    const char *name;
};

static const struct number_name relocations[] = {
    {R_CUDA_NONE, "R_CUDA_NONE"},
    {R_CUDA_32, "R_CUDA_32"},
    {R_CUDA_64, "R_CUDA_64"},
    {R_CUDA_G32, "R_CUDA_G32"},
    {R_CUDA_G64, "R_CUDA_G64"},
    {R_CUDA_TEX_HEADER_INDEX, "R_CUDA_TEX_HEADER_INDEX"},
    {R_CUDA_SAMP_HEADER_INDEX, "R_CUDA_SAMP_HEADER_INDEX"},
    {R_CUDA_FUNC_DESC_32, "R_CUDA_FUNC_DESC_32"},
    {R_CUDA_FUNC_DESC_64, "R_CUDA_FUNC_DESC_64"},
    {0x32, "R_CUDA_CONST_FIELD19_20"},
    {0x33, "R_CUDA_BINDLESSOFF13_36"},
    {R_CUDA_SURF_HEADER_INDEX, "R_CUDA_SURF_HEADER_INDEX"},
    {0x36, "R_CUDA_CONST_FIELD21_20"},
    {R_CUDA_ABS32_32, "R_CUDA_ABS32_32"},
    {R_CUDA_ABS32_LO_32, "R_CUDA_ABS32_LO_32"},
    {R_CUDA_ABS32_HI_32, "R_CUDA_ABS32_HI_32"},
    {R_CUDA_ABS47_34, "R_CUDA_ABS47_34"},
    {R_CUDA_ABS16_32, "R_CUDA_ABS16_32"},
    {0x3c, "R_CUDA_ABS24_32"},
    {R_CUDA_FUNC_DESC32_32, "R_CUDA_FUNC_DESC32_32"},
    {R_CUDA_FUNC_DESC32_LO_32, "R_CUDA_FUNC_DESC32_LO_32"},
    {R_CUDA_FUNC_DESC32_HI_32, "R_CUDA_FUNC_DESC32_HI_32"},
    {R_CUDA_CONST_FIELD19_40, "R_CUDA_CONST_FIELD19_40"},
    {R_CUDA_BINDLESSOFF14_40, "R_CUDA_BINDLESSOFF14_40"},
    {R_CUDA_CONST_FIELD21_38, "R_CUDA_CONST_FIELD21_38"},
    {0x43, "R_CUDA_INSTRUCTION128"},
    {R_CUDA_YIELD_OPCODE9_0, "R_CUDA_YIELD_OPCODE9_0"},
    {R_CUDA_YIELD_CLEAR_PRED4_87, "R_CUDA_YIELD_CLEAR_PRED4_87"},
    {0x46, "R_CUDA_32_LO"},
    {0x47, "R_CUDA_32_HI"},
    {R_CUDA_UNUSED_CLEAR32, "R_CUDA_UNUSED_CLEAR32"},
    {R_CUDA_UNUSED_CLEAR64, "R_CUDA_UNUSED_CLEAR64"},
    {R_CUDA_ABS24_40, "R_CUDA_ABS24_40"},
    {R_CUDA_ABS55_16_34, "R_CUDA_ABS55_16_34"},
    {R_CUDA_8_0, "R_CUDA_8_0"},
    {R_CUDA_8_0 + 1, "R_CUDA_8_8"},
    {R_CUDA_8_0 + 2, "R_CUDA_8_16"},
    {R_CUDA_8_0 + 3, "R_CUDA_8_24"},
    {R_CUDA_8_0 + 4, "R_CUDA_8_32"},
    {R_CUDA_8_0 + 5, "R_CUDA_8_40"},
    {R_CUDA_8_0 + 6, "R_CUDA_8_48"},
    {R_CUDA_8_0 + 7, "R_CUDA_8_56"},
    {R_CUDA_G8_0, "R_CUDA_G8_0"},
    {R_CUDA_G8_0 + 1, "R_CUDA_G8_8"},
    {R_CUDA_G8_0 + 2, "R_CUDA_G8_16"},
    {R_CUDA_G8_0 + 3, "R_CUDA_G8_24"},
    {R_CUDA_G8_0 + 4, "R_CUDA_G8_32"},
    {R_CUDA_G8_0 + 5, "R_CUDA_G8_40"},
    {R_CUDA_G8_0 + 6, "R_CUDA_G8_48"},
    {R_CUDA_G8_0 + 7, "R_CUDA_G8_56"},
    {R_CUDA_FUNC_DESC_8_0, "R_CUDA_FUNC_DESC_8_0"},
    {R_CUDA_FUNC_DESC_8_0 + 1, "R_CUDA_FUNC_DESC_8_8"},
    {R_CUDA_FUNC_DESC_8_0 + 2, "R_CUDA_FUNC_DESC_8_16"},
    {R_CUDA_FUNC_DESC_8_0 + 3, "R_CUDA_FUNC_DESC_8_24"},
    {R_CUDA_FUNC_DESC_8_0 + 4, "R_CUDA_FUNC_DESC_8_32"},
    {R_CUDA_FUNC_DESC_8_0 + 5, "R_CUDA_FUNC_DESC_8_40"},
    {R_CUDA_FUNC_DESC_8_0 + 6, "R_CUDA_FUNC_DESC_8_48"},
    {R_CUDA_FUNC_DESC_8_0 + 7, "R_CUDA_FUNC_DESC_8_56"},
    {0x64, "R_CUDA_ABS20_44"},
    {R_CUDA_SAMP_HEADER_INDEX_0, "R_CUDA_SAMP_HEADER_INDEX_0"},
    {R_CUDA_UNIFIED, "R_CUDA_UNIFIED"},
    {R_CUDA_UNIFIED_32, "R_CUDA_UNIFIED_32"},
    {R_CUDA_UNIFIED_8_0, "R_CUDA_UNIFIED_8_0"},
    {R_CUDA_UNIFIED_8_0 + 1, "R_CUDA_UNIFIED_8_8"},
    {R_CUDA_UNIFIED_8_0 + 2, "R_CUDA_UNIFIED_8_16"},
    {R_CUDA_UNIFIED_8_0 + 3, "R_CUDA_UNIFIED_8_24"},
    {R_CUDA_UNIFIED_8_0 + 4, "R_CUDA_UNIFIED_8_32"},
    {R_CUDA_UNIFIED_8_0 + 5, "R_CUDA_UNIFIED_8_40"},
    {R_CUDA_UNIFIED_8_0 + 6, "R_CUDA_UNIFIED_8_48"},
    {R_CUDA_UNIFIED_8_0 + 7, "R_CUDA_UNIFIED_8_56"},
    {R_CUDA_UNIFIED32_LO_32, "R_CUDA_UNIFIED32_LO_32"},
    {R_CUDA_UNIFIED32_HI_32, "R_CUDA_UNIFIED32_HI_32"},
    {R_CUDA_ABS56_16_34, "R_CUDA_ABS56_16_34"},
    {R_CUDA_CONST_FIELD22_37, "R_CUDA_CONST_FIELD22_37"},
};

uint32_t format_target_flags(unsigned sm)
{
    return (targets_have(sm, TARGET_HAS_MERCURY) ? CUBIN_FLAGS_CLASS_SM100
                                                 : CUBIN_FLAGS_CLASS_SM90) |
           (sm & 0xffu) << CUBIN_FLAGS_SM_SHIFT;
}

unsigned format_relocation_size(uint32_t type)
{
    /* 0x4c to 0x63: byte n of a plain, global or function descriptor address; 0x68: unified. */
    if ((type >= R_CUDA_8_0 && type < R_CUDA_FUNC_DESC_8_0 + 8) ||
        (type >= R_CUDA_UNIFIED_8_0 && type < R_CUDA_UNIFIED_8_0 + 8))
        return 1;
    switch (type) {
    case R_CUDA_32:
    case R_CUDA_G32:
    case R_CUDA_TEX_HEADER_INDEX:
    case R_CUDA_SAMP_HEADER_INDEX:
    case R_CUDA_SAMP_HEADER_INDEX_0:
    case R_CUDA_FUNC_DESC_32:
    case R_CUDA_SURF_HEADER_INDEX:
    case 0x46: /* 32_LO */
    case 0x47: /* 32_HI */
    case R_CUDA_UNUSED_CLEAR32:
    case R_CUDA_UNIFIED_32:
    case R_MERCURY_ABS32:
    case R_MERCURY_PROG_REL32:
        return 4;
    default:
        return 8;
    }
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

/* The tables are sorted by number. */
static const char *name_in(const struct number_name *names, size_t count, uint32_t number)
{
    size_t found = SEARCH_FIRST_NOT(count, at, names[at].number < number);

    return found < count && names[found].number == number ? names[found].name : NULL;
}

const char *format_relocation_name(uint32_t type)
{
    return name_in(relocations, COUNT(relocations), type);
}

const char *format_attribute_name(uint8_t attribute)
{
    const struct attribute_facts *facts = attributes_find(attribute);

    return facts ? facts->name : NULL;
}
