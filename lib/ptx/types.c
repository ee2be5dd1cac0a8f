/* types.c: the words for types, linkages and spaces (PTX ISA, "State Spaces, Types, and
 * Variables"). */
#include "ptx/types.h"

#define WORD(name, word)       word,
#define ROW(name, word, bytes) {word, bytes},
const char *const ptx_linkage_names[] = {"", PTX_LINKAGES(WORD)};
const char *const ptx_space_names[] = {"", PTX_SPACES(WORD)};
static const struct {
    const char *name;
    uint8_t size;
} types[] = {{"", 0}, PTX_TYPES(ROW)};

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

enum ptx_space ptx_space_find(struct text word)
{
    for (size_t i = PTX_SPACE_NONE + 1; i <= PTX_SPACE_TEX; i++)
        if (text_equal(word, text_of(ptx_space_names[i])))
            return (enum ptx_space)i;
    return PTX_SPACE_NONE;
}
