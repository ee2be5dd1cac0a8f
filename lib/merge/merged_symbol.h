/* merged_symbol.h: the symbols of all cubins, brought together, and what is known of functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "cubin/format.h"
#include "merge/index_lists.h"

struct merged_symbol {
    struct text name;
    uint64_t value; /* in the cubin that defines it; of a shared variable its alignment */
    uint64_t size;
    uint64_t common_alignment; /* of a COMMON symbol's first appearance; 0 = never COMMON */
    uint32_t first_file;       /* the cubin that mentions it first */
    uint32_t file;             /* the cubin that defines it; MERGE_NONE: undefined, or COMMON */
    uint32_t input;            /* its index there */
    uint32_t alias;            /* the function whose code it names too */
    uint32_t input_section;
    uint8_t type;
    uint8_t binding;
    uint8_t other;
};

/* Where a symbol lies in the image. The stages of the layout write it (layout.c, constants.c,
 * shared.c), and preserve.c before the symbols get their rows. */
struct placed_symbol {
    struct text name; /* as written */
    uint64_t value;
    uint32_t section; /* merged section, or MERGE_NONE */
    uint8_t other;    /* st_other as written, but for an executable's data */
};

/* What is known of a function symbol; own values, and those of all it can reach. */
struct merged_function {
    uint32_t registers;
    uint32_t most_registers; /* that a kernel may be launched with; 0 = not said */
    uint32_t frame;          /* bytes */
    uint32_t barriers;
    uint32_t order;        /* of its info section in reading order; MERGE_NONE = it has none */
    uint32_t externs_file; /* cubin of `externs` */
    struct bytes externs;  /* symbols of functions outside its cubin that it needs */
    bool is_aliased;       /* an alias names its code */
    bool uses_shared;      /* its code names a shared variable */
    bool uses_texture;     /* its code names a texture, sampler or surface reference */
    bool has_constants;    /* it comes with constants of the compiler's, in bank 2 */
};

/* One step of the order in which local symbols are written. */
struct merged_local {
    bool is_section;
    uint32_t file;
    uint32_t index; /* merged symbol; of a section symbol, its index in the cubin */
};

/* What became of the cubins' symbols (resolve.h). */
struct resolution {
    const uint32_t *symbol_of; /* by input symbol: merged symbol; MERGE_NONE for section symbols */
    const uint32_t *owner_of;  /* by input section: function it belongs to, or MERGE_NONE */
    const bool *has_lost; /* by input symbol: an earlier cubin's definition was the better one */
    const bool *gave_way; /* by input symbol: it counted until a strong definition came */
    const struct merged_local *locals;
    size_t local_count;
    const uint32_t *globals; /* order in which global symbols are written */
    size_t global_count;
    const uint32_t *commons; /* in order of their first appearance */
    size_t common_count;
};

static inline bool merged_is_kernel(const struct merged_symbol *symbol)
{
    return symbol->type == STT_FUNC && (symbol->other & STO_CUDA_ENTRY);
}

static inline bool merged_is_common(const struct merged_symbol *symbol)
{
    return symbol->file == MERGE_NONE && symbol->common_alignment;
}

/* Whether it is a data object in the given memory space (STO_CUDA_...). */
static inline bool merged_is_data(const struct merged_symbol *symbol, unsigned space)
{
    return symbol->type == STT_CUDA_OBJECT && (symbol->other & STO_CUDA_SPACE) == space;
}
