/* merging.h: what a merge knows while it runs; shared by the modules behind merge.h.
 *
 * There are three index spaces besides each cubin's own:
 *   symbol   index in merging.symbols: one per name that is visible between cubins, one per local
 *   section  index in merging.sections: one per section that will be written
 *   node     a symbol, or symbol_count + a prototype: what the call graph is walked over
 * Arrays "by input symbol" and "by input section" hold all cubins' symbols and sections one cubin
 * after the other; symbol_base and section_base say where each begins. MERGE_NONE means "none".
 *
 * The stages run in the order in which their fields stand here, and a field does not change after
 * the stage that fills it, but for liveness, rows and contents. */
#ifndef MINILINK_MERGE_MERGING_H
#define MINILINK_MERGE_MERGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "cubin/image.h"
#include "merge/lists.h"
#include "merge/merge.h"

#define MERGE_NONE UINT32_MAX

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

/* Flags of everything that a node can reach, itself among it. */
enum reach_flag {
    REACHES_CYCLE = 1,      /* recursion: no bound for the stack */
    REACHES_ALIAS = 2,      /* a function with an alias */
    REACHES_SHARED = 4,     /* code that names a shared variable */
    REACHES_EXTERNS = 8,    /* a function that needs functions outside the program */
    REACHES_TEXTURE = 16,   /* code that names a texture, sampler or surface reference */
    REACHES_CONSTANTS = 32, /* a function with constants of the compiler's */
    REACHES_ANYTHING = 64,  /* always */
};

struct reach {
    uint64_t stack; /* bytes of the deepest path; without meaning under REACHES_CYCLE */
    uint32_t registers;
    uint32_t dearest; /* the function that uses them */
    uint32_t barriers;
    uint32_t flags;
};

/* What kind of section, in the order in which nvlink writes them. */
enum merged_class {
    CLASS_DEBUG,
    CLASS_NOTE,
    CLASS_INFO,
    CLASS_COMPAT,
    CLASS_FUNCTION_INFO,
    CLASS_CALLGRAPH,
    CLASS_PROTOTYPE,
    CLASS_REL_ACTION,
    CLASS_RELOCATIONS,
    CLASS_CONSTANT, /* of the program */
    CLASS_FUNCTION_CONSTANT,
    CLASS_TEXT,
    CLASS_GLOBAL_INIT,
    CLASS_TWIN_TEXT, /* Mercury's (mercury.h), up to CLASS_TWIN_SYMTAB; behind everything else */
    CLASS_TWIN_DEBUG,
    CLASS_TWIN_INFO,
    CLASS_TWIN_FUNCTION_INFO,
    CLASS_TWIN_RELOCATIONS,
    CLASS_TWIN_CONSTANT,
    CLASS_TWIN_FUNCTION_CONSTANT,
    CLASS_TWIN_GLOBAL_INIT,
    CLASS_TWIN_RESERVED,
    CLASS_TWIN_INDICES,
    CLASS_TWIN_SYMTAB,
    CLASS_SHARED, /* this and what follows: no bytes */
    CLASS_DEBUG_SHARED,
    CLASS_RESERVED, /* shared memory, but the driver's */
    CLASS_GLOBAL,
    CLASS_COUNT, /* also of a section that is not written: its contents went into others */
};

/* A section that will be written. */
struct merged_section {
    enum merged_class class;
    struct text name;
    uint32_t type;
    uint64_t flags;
    uint64_t alignment;
    uint64_t entry_size;
    uint64_t size;
    const uint8_t *data; /* size bytes: a view into a cubin, or `own` */
    uint8_t *own;        /* a copy in the image's arena that may be changed, or NULL */
    uint32_t function;   /* the symbol it belongs to, or MERGE_NONE */
    uint32_t target;     /* relocations: the merged section they apply to */
    uint32_t info_high;  /* .text: bits 24-31 of sh_info, kept from the input */
    uint32_t bank;       /* constants: the bank's number */
    uint32_t file;       /* info sections: the cubin and its section that they come from */
    uint32_t input;
    uint32_t index; /* in the image; 0 = not placed yet */
};

/* Where an input section's contents went. */
struct merged_place {
    uint32_t section; /* MERGE_NONE: dropped */
    uint64_t offset;
};

/* A section's contents that stand in another one's. */
struct merged_copy {
    uint32_t from;
    uint32_t to;
    uint64_t offset;
};

/* A relocation that stays. */
struct merged_relocation {
    uint64_t offset;
    int64_t addend;
    uint32_t type;
    uint32_t list;   /* the merged section of relocations that it belongs to */
    uint32_t symbol; /* MERGE_NONE: `section` instead */
    uint32_t section;
};

/* All lists' together, in reading order (relocations.h). */
struct merged_relocations {
    struct merged_relocation *items;
    size_t count;
    size_t capacity;
};

struct losses;
struct rows;
struct shared_names;
struct shared_memory;
struct texture_names;
struct texture_words;
struct call_graph;

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

struct merging {
    const struct merge_request *request;
    const struct cubin *const *cubins;
    size_t count;
    struct image *image; /* its arena holds what is written */
    struct arena arena;  /* everything else */
    bool failed;         /* an error was reported in the step that runs */

    unsigned abi;       /* of the output: CUBIN_ABI_VERSION, or CUBIN_OLD_ABI_VERSION */
    uint32_t toolkit;   /* the newest one of inputs of CUDA 12 */
    struct cubin notes; /* those that cubins of CUDA 12 lack */

    const size_t *symbol_base;
    const size_t *section_base;

    /* The stages' results, each described in its stage's header. */
    const struct merged_symbol *symbols; /* resolve.h */
    size_t symbol_count;
    const struct resolution *resolved;
    const struct losses *losses;    /* losers.h */
    const struct call_graph *graph; /* graph.h */
    const bool *is_live;            /* reach.h: by symbol: a function that stays */

    /* attributes.c, reach.c */
    const struct merged_function *functions; /* by symbol */
    const struct reach *reach;               /* by node */

    /* layout.c, constants.c, shared.c */
    struct merged_section *sections;
    size_t section_count;
    size_t section_capacity;
    struct table section_names;   /* sections that are found by name */
    struct merged_place *places;  /* by input section */
    struct placed_symbol *placed; /* by symbol */
    uint32_t *text_of;            /* by symbol: the merged section of a function's code */
    uint32_t *kernels;            /* symbols, in order of their code */
    size_t kernel_count;
    struct merged_copy *constants; /* what device functions have in kernels' sections */
    size_t constant_count;
    const struct shared_names *shared_names; /* shared.h */
    const struct shared_memory *shared;

    const struct texture_names *texture_names; /* texture.h */
    const struct texture_words *texture_words;

    /* mercury.c */
    bool has_twins;                /* Mercury's sections are merged too; may change to false */
    const uint32_t *twin_owner_of; /* by input section of Mercury's: its function, or MERGE_NONE */
    uint32_t *twin_tables;         /* by file: its Mercury symbol table; 0 = none */
    uint32_t *twin_indices;        /* by file: where it has sections that need 32 bits; 0 = none */
    uint32_t *twin_of; /* by merged section, below twin_of_count: its twin, or MERGE_NONE */
    size_t twin_of_count;
    uint32_t *twin_copies;         /* by merged section: the first of its copies in `constants` */
    uint32_t twin_symtab;          /* merged section */
    uint32_t twin_indices_section; /* its table of section indices, or MERGE_NONE */

    /* relocate.c */
    struct merged_relocations relocations;
    uint32_t *resolved_of; /* by merged section: where its resolved ones are listed, MERGE_NONE: not
                            * yet; NULL unless they are asked for */
    size_t resolved_of_count;

    /* ordering.c, symtab.c */
    uint32_t *order; /* the merged sections in the order of the image */
    size_t order_count;
    const struct rows *rows;      /* symtab.h */
    struct image_strings strings; /* .strtab */
    struct buffer scratch;        /* contents of a section while they are made */
};

/* `count` indices in the merge's arena, all MERGE_NONE. */
static inline uint32_t *merging_none(struct merging *m, size_t count)
{
    uint32_t *indices = arena_alloc(&m->arena, count, sizeof *indices);

    memset(indices, 0xff, count * sizeof *indices);
    return indices;
}

/* A walk over all sections of all cubins, in order. Start with {0}. */
struct merging_walk {
    size_t file;
    uint32_t index; /* of the section in its cubin */
    const struct cubin_section *section;
};

/* Goes on to the next section; false behind the last. */
static inline bool merging_next(const struct merging *m, struct merging_walk *at)
{
    for (at->index++; at->file < m->count; at->file++, at->index = 1)
        if (at->index < m->cubins[at->file]->section_count) {
            at->section = &m->cubins[at->file]->sections[at->index];
            return true;
        }
    return false;
}

/* The merged symbol of a cubin's symbol; MERGE_NONE for section symbols and indices out of range.
 */
static inline uint32_t merging_symbol(const struct merging *m, size_t file, uint32_t index)
{
    if (index >= m->cubins[file]->symbol_count)
        return MERGE_NONE;
    return m->resolved->symbol_of[m->symbol_base[file] + index];
}

/* The function that an input section belongs to, or MERGE_NONE. */
static inline uint32_t merging_owner(const struct merging *m, size_t file, size_t section)
{
    size_t at = m->section_base[file] + section;

    if (m->twin_owner_of && m->twin_owner_of[at] != MERGE_NONE)
        return m->twin_owner_of[at];
    return m->resolved->owner_of[at];
}

/* An alias's function; any other symbol itself. */
static inline uint32_t merging_canonical(const struct merging *m, uint32_t symbol)
{
    uint32_t alias = m->symbols[symbol].alias;

    return alias == MERGE_NONE ? symbol : alias;
}

/* Whether an input section stays: it belongs to no function, or to a live one defined here. */
static inline bool merging_keeps(const struct merging *m, size_t file, size_t section)
{
    uint32_t owner = merging_owner(m, file, section);

    return owner == MERGE_NONE || (m->is_live[owner] && m->symbols[owner].file == file);
}

/* Targets whose cubins carry Mercury twins: sm_100 and later. */
static inline bool merging_is_mercury(const struct merging *m)
{
    return CUBIN_FLAGS_SM(m->cubins[0]->flags) >= 100;
}

/* Measured: -g and -preserve-relocs keep dead functions, and the symbols of shared variables. */
static inline bool merging_keeps_all(const struct merging *m)
{
    return m->request->debug || m->request->preserve_relocations;
}

static inline bool merging_is_twin(enum merged_class class)
{
    return class >= CLASS_TWIN_TEXT && class <= CLASS_TWIN_SYMTAB;
}

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

/* Whether it is a texture, sampler or surface reference, which no cubin defines (texture.h). */
static inline bool merged_is_reference(const struct merged_symbol *symbol)
{
    return symbol->type >= STT_CUDA_TEXTURE && symbol->type <= STT_CUDA_SURFACE;
}

/* offset rounded up to a multiple of alignment, a power of two or 0. */
static inline uint64_t merging_align(uint64_t offset, uint64_t alignment)
{
    return alignment > 1 ? (offset + alignment - 1) & ~(alignment - 1) : offset;
}

#endif
