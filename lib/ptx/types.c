/* types.c: the words for types, linkages and spaces (PTX ISA, "State Spaces, Types, and
 * Variables"). */
#include "ptx/types.h"

static const struct {
    const char *name;
    uint8_t size; /* bytes */
} types[] = {
    [PTX_NO_TYPE] = {"", 0},         [PTX_PRED] = {".pred", 1},
    [PTX_B8] = {".b8", 1},           [PTX_B16] = {".b16", 2},
    [PTX_B32] = {".b32", 4},         [PTX_B64] = {".b64", 8},
    [PTX_B128] = {".b128", 16},      [PTX_U8] = {".u8", 1},
    [PTX_U16] = {".u16", 2},         [PTX_U32] = {".u32", 4},
    [PTX_U64] = {".u64", 8},         [PTX_S8] = {".s8", 1},
    [PTX_S16] = {".s16", 2},         [PTX_S32] = {".s32", 4},
    [PTX_S64] = {".s64", 8},         [PTX_F16] = {".f16", 2},
    [PTX_F16X2] = {".f16x2", 4},     [PTX_F32] = {".f32", 4},
    [PTX_F64] = {".f64", 8},         [PTX_TEXREF] = {".texref", 0},
    [PTX_SURFREF] = {".surfref", 0}, [PTX_SAMPLERREF] = {".samplerref", 0},
};

static const char *const linkages[] = {
    [PTX_INTERNAL] = "",  [PTX_EXTERN] = ".extern", [PTX_VISIBLE] = ".visible",
    [PTX_WEAK] = ".weak", [PTX_COMMON] = ".common",
};

static const char *const spaces[] = {
    [PTX_SPACE_NONE] = "",          [PTX_SPACE_GLOBAL] = ".global", [PTX_SPACE_CONST] = ".const",
    [PTX_SPACE_SHARED] = ".shared", [PTX_SPACE_LOCAL] = ".local",   [PTX_SPACE_PARAM] = ".param",
    [PTX_SPACE_REG] = ".reg",       [PTX_SPACE_TEX] = ".tex",
};

uint32_t ptx_type_size(enum ptx_type type)
{
    return types[type].size;
}

bool ptx_type_is_opaque(enum ptx_type type)
{
    return type == PTX_TEXREF || type == PTX_SAMPLERREF || type == PTX_SURFREF;
}

enum ptx_type ptx_type_find(struct text word)
{
    for (size_t i = PTX_NO_TYPE + 1; i < sizeof types / sizeof *types; i++)
        if (text_equal(word, text_of(types[i].name)))
            return (enum ptx_type)i;
    return PTX_NO_TYPE;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

const char *ptx_linkage_name(enum ptx_linkage linkage)
{
    return linkages[linkage];
}

enum ptx_space ptx_space_find(struct text word)
{
    for (size_t i = PTX_SPACE_NONE + 1; i < sizeof spaces / sizeof *spaces; i++)
        if (text_equal(word, text_of(spaces[i])))
            return (enum ptx_space)i;
    return PTX_SPACE_NONE;
}
