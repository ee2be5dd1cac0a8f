/* types.h: linkages, spaces and types, and the words for them (PTX ISA, "State Spaces, Types, and
 * Variables"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum ptx_linkage {
    PTX_INTERNAL, /* no linkage directive */
    PTX_EXTERN,
    PTX_VISIBLE,
    PTX_WEAK,
    PTX_COMMON,
};

enum ptx_space {
    PTX_SPACE_NONE,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_REG,
    PTX_SPACE_TEX, /* the old `.tex` space */
};

/* Type of one element; the dotted word is ptx_type_name(). */
enum ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_F32,
    PTX_F64,
    PTX_TEXREF,
    PTX_SURFREF,
    PTX_SAMPLERREF,
};

/* Bytes of one element; 0 for opaque types (their handles take 8 in memory). */
uint32_t ptx_type_size(enum ptx_type type);

/* True for .texref, .samplerref and .surfref. Such a variable has no bytes: it names an object that
 * the host binds, and all variables of one name in the program are the same. */
bool ptx_type_is_opaque(enum ptx_type type);

/* The type that a dotted word names (".f32"), or PTX_NO_TYPE. */
enum ptx_type ptx_type_find(struct text word);

/* ".f32"; "" for PTX_NO_TYPE. */
const char *ptx_type_name(enum ptx_type type);

/* ".visible"; "" for PTX_INTERNAL. */
const char *ptx_linkage_name(enum ptx_linkage linkage);

/* The space that a dotted word names (".shared"), or PTX_SPACE_NONE. */
enum ptx_space ptx_space_find(struct text word);
