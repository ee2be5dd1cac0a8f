/* merging.h: what a merge knows while it runs; shared by the modules behind merge.h.
 *
 * There are three index spaces besides each cubin's own:
 *   symbol   index in merging.symbols: one per name that is visible between cubins, one per local
 *   section  index in merging.sections: one per section that will be written
 *   node     a symbol, or symbol_count + a prototype: what the call graph is walked over
 * Arrays "by input symbol" and "by input section" hold all cubins' symbols and sections one cubin
 * after the other; symbol_base and section_base say where each begins. MERGE_NONE means "none".
 *
 * What a stage finds is a struct that its header describes; the stages behind it see it through a
 * pointer to const. Sections are made by many stages, and their contents change until the image is
 * built; symbols are placed (merged_symbol.h) until they get their rows. */
#pragma once

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
#include "merge/merge.h"
#include "merge/merged_section.h"
#include "merge/merged_symbol.h"

struct losses;
struct reach;
struct rows;
struct shared_names;
struct shared_memory;
struct texture_names;
struct texture_words;
struct twins;
struct twin_pairs;
struct twin_tables;
struct call_graph;
struct layout;
struct section_classes;

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
    const uint8_t *kinds; /* by input section: enum input_kind (merging_inputs.h) */

    /* The stages' results, each described in its stage's header. */
    const struct merged_symbol *symbols; /* resolve.h */
    size_t symbol_count;
    const struct resolution *resolved;
    const struct losses *losses;    /* overridden.h */
    const struct call_graph *graph; /* graph.h */
    const bool *is_folded;          /* fold.h: by input symbol; NULL = none */
    const bool *is_live;            /* reach.h: by symbol: a function that stays */

    /* attributes.c, reach.c */
    const struct merged_function *functions; /* by symbol */
    const struct reach *reach;               /* by node */

    /* layout.c, constants.c, shared.c */
    struct merged_section *sections;
    size_t section_count;
    size_t section_capacity;
    struct table section_names;          /* sections that are found by name */
    struct placed_symbol *placed;        /* by symbol */
    const struct layout *layout;         /* layout.h */
    const struct merged_copy *constants; /* what device functions have in kernels' sections */
    size_t constant_count;
    const struct shared_names *shared_names; /* shared.h */
    const struct shared_memory *shared;

    const struct texture_names *texture_names; /* texture.h */
    const struct texture_words *texture_words;

    /* twins.h */
    bool has_twins; /* Mercury's sections are merged too; may change to false */
    const struct twins *twins;
    const struct twin_pairs *twin_pairs;
    const struct twin_tables *twin_tables;

    /* relocate.c */
    struct merged_relocations relocations;
    uint32_t *resolved_of; /* by merged section: where its resolved ones are listed, MERGE_NONE: not
                            * yet; NULL unless they are asked for */
    size_t resolved_of_count;

    /* ordering.c, symtab.c */
    const struct section_classes *classes; /* ordering.h */
    uint32_t *index_of; /* by merged section: its index in the image; 0 = not placed yet */
    uint32_t *order;    /* the merged sections in the order of the image */
    size_t order_count;
    const struct rows *rows;      /* symtab.h */
    struct image_strings strings; /* .strtab */
    size_t names_start;           /* in it: the names of sections follow, up to */
    size_t names_end;
    struct image_symbols table; /* .symtab */
};

/* So many sections are worth a thread: a third of a millisecond. */
#define MERGING_WORTH_A_THREAD 2000u

/* How many files a part of a loop over all of them should have. */
static inline size_t merging_least_files(const struct merging *m)
{
    return m->count / (m->section_base[m->count] / MERGING_WORTH_A_THREAD + 1) + 1;
}

/* `count` indices in the merge's arena, all MERGE_NONE. */
static inline uint32_t *merging_none(struct merging *m, size_t count)
{
    uint32_t *indices = arena_alloc(&m->arena, count, sizeof *indices);

    memset(indices, 0xff, count * sizeof *indices);
    return indices;
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
