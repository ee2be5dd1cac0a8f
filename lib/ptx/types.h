/* types.h: linkages, spaces and types, and the words for them (PTX ISA, "State Spaces, Types, and
 * Variables"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Each list has what it is called here and the dotted word for it; no word: PTX_INTERNAL,
 * PTX_SPACE_NONE and PTX_NO_TYPE. Types are of one element, and have its bytes. */
/* clang-format off */
#define PTX_LINKAGES(X)                                                                            \
    X(EXTERN, ".extern") X(VISIBLE, ".visible") X(WEAK, ".weak") X(COMMON, ".common")
#define PTX_SPACES(X)                                                                              \
    X(GLOBAL, ".global") X(CONST, ".const") X(SHARED, ".shared") X(LOCAL, ".local")                \
    X(PARAM, ".param") X(REG, ".reg") X(TEX, ".tex") /* the old one */
#define PTX_TYPES(X)                                                                               \
    X(PRED, ".pred", 1)                                                                            \
    X(B8, ".b8", 1) X(B16, ".b16", 2) X(B32, ".b32", 4) X(B64, ".b64", 8) X(B128, ".b128", 16)     \
    X(U8, ".u8", 1) X(U16, ".u16", 2) X(U32, ".u32", 4) X(U64, ".u64", 8)                          \
    X(S8, ".s8", 1) X(S16, ".s16", 2) X(S32, ".s32", 4) X(S64, ".s64", 8)                          \
    X(F16, ".f16", 2) X(F16X2, ".f16x2", 4) X(F32, ".f32", 4) X(F64, ".f64", 8)                    \
    X(TEXREF, ".texref", 0) X(SURFREF, ".surfref", 0) X(SAMPLERREF, ".samplerref", 0)
/* clang-format on */

#define PTX_NAME(name, ...)       PTX_##name,
#define PTX_SPACE_NAME(name, ...) PTX_SPACE_##name,
enum ptx_linkage { PTX_INTERNAL, PTX_LINKAGES(PTX_NAME) };
enum ptx_space { PTX_SPACE_NONE, PTX_SPACES(PTX_SPACE_NAME) };
enum ptx_type { PTX_NO_TYPE, PTX_TYPES(PTX_NAME) };

/* Bytes of one element; 0 for opaque types (their handles take 8 in memory). */
uint32_t ptx_type_size(enum ptx_type type);

/* True for .texref, .samplerref and .surfref. Such a variable has no bytes: it names an object that
 * the host binds, and all variables of one name in the program are the same. */
bool ptx_type_is_opaque(enum ptx_type type);

/* The type that a dotted word names (".f32"), or PTX_NO_TYPE. */
enum ptx_type ptx_type_find(struct text word);

/* ".f32"; "" for PTX_NO_TYPE. */
const char *ptx_type_name(enum ptx_type type);

/* ".visible" and ".shared", by number; "" for PTX_INTERNAL and PTX_SPACE_NONE. */
extern const char *const ptx_linkage_names[], *const ptx_space_names[];

/* The space that a dotted word names (".shared"), or PTX_SPACE_NONE. */
enum ptx_space ptx_space_find(struct text word);
