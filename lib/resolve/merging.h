/* merging.h: the state of a merge until it is known what is kept, and the queries that all steps
 * use.
 *
 * There are two index spaces besides each cubin's own:
 *   symbol   index in merging.symbols: one per name that is visible between cubins, one per local
 *   node     a node of the call graph: a symbol, or symbol_count + a prototype
 * Arrays "by input symbol" and "by input section" hold the symbols and sections of all cubins, one
 * cubin after the other; symbol_base and section_base have the start of each. MERGE_NONE means
 * "none".
 *
 * Each step fills in fields of its own, which later steps only read. */
#pragma once

#include "base/search.h"
#include "cubin/image.h"
#include "resolve/request.h"

#define MERGE_NONE UINT32_MAX /* no symbol, section, file ... */

/* Call graphs, users of variables and the like are read as pairs in input order and then sorted,
 * once, into one array of items with the lists' starts beside it (index_lists.c). */
struct merged_pair {
    uint32_t from, to;
    uint32_t group; /* only pairs of one group are duplicates; those of a key are adjacent */
};

/* A growing array; start with {.arena = ...}. */
struct merged_pairs {
    struct arena *arena;
    struct merged_pair *items;
    size_t count;
    size_t capacity;
};

/* Items of key k: items[first[k]] up to items[first[k + 1]]. */
struct merged_lists {
    uint32_t *first;
    uint32_t *items;
};

void index_lists_add_of(struct merged_pairs *pairs, uint32_t from, uint32_t to, size_t group);

static inline void index_lists_add(struct merged_pairs *pairs, uint32_t from, uint32_t to)
{
    index_lists_add_of(pairs, from, to, 0);
}

/* Sorts pairs into `key_count` lists by `from`, each in the order of the pairs. */
struct merged_lists index_lists_make(struct arena *arena, const struct merged_pairs *pairs,
                                     size_t key_count);

/* The same without duplicates; items are below `item_count`. */
struct merged_lists index_lists_make_distinct(struct arena *arena, const struct merged_pairs *pairs,
                                              size_t key_count, size_t item_count);

/* By item below `item_count`: the keys whose lists have it, in ascending order. */
struct merged_lists index_lists_invert(struct arena *arena, const struct merged_lists *lists,
                                       size_t key_count, size_t item_count);

static inline size_t index_lists_count(const struct merged_lists *lists, uint32_t key)
{
    return lists->first[key + 1] - lists->first[key];
}

/* True if `a` must come before `b`. */
typedef bool index_before(const void *context, uint32_t a, uint32_t b);

/* Sorts with nvlink's unstable list merge sort, which orders ties in its own way, so that equal
 * variables get nvlink's addresses. `scratch` has room for `count` items. If `before` is NULL, it
 * is true for all. */
void index_lists_sort_unstably(uint32_t *items, size_t count, uint32_t *scratch,
                               index_before *before, const void *context);

/* A merged symbol: all cubins' symbols of one name, or one local symbol. */
struct merged_symbol {
    struct text name;
    uint64_t value; /* in the defining cubin; for a shared variable its alignment */
    uint64_t size;
    uint64_t common_alignment; /* of a COMMON symbol's first appearance; 0 = never COMMON */
    uint32_t first_file;       /* the cubin that mentions it first */
    uint32_t file;             /* the cubin that defines it; MERGE_NONE: undefined, or COMMON */
    uint32_t input;            /* its index there */
    uint32_t alias;            /* the function whose code it also names */
    uint32_t input_section;
    uint8_t type;
    uint8_t binding;
    uint8_t other;
};

/* Properties of functions, and of everything that a node can reach, including itself. */
enum reach_flag {
    REACHES_CYCLE = 1,      /* recursion: no bound for the stack */
    REACHES_ALIAS = 2,      /* a function with an alias */
    REACHES_SHARED = 4,     /* code that names a shared variable */
    REACHES_EXTERNS = 8,    /* a function that needs functions outside the program */
    REACHES_TEXTURE = 16,   /* code that names a texture, sampler or surface reference */
    REACHES_CONSTANTS = 32, /* a function with compiler constants */
    REACHES_ANYTHING = 64,  /* always */
    REACHES_RECORDS = 128,  /* a function with records that a kernel which reaches it needs */
    REACHES_RECONFIG = 256, /* code that changes its number of registers as it runs */
    REACHES_MASK = 512,     /* a function with SPARSE_MMA_MASK */
    REACHES_CTA = 1024,     /* code that uses tensor memory of one CTA */
    REACHES_CTAS = 2048,    /* ... of a pair of CTAs */
};

/* What is known about a function by itself; struct reach is about all that it can reach. */
struct merged_function {
    uint32_t registers;
    uint32_t most_registers; /* limit of registers for a kernel's launch; 0 = none given */
    uint32_t frame;          /* bytes */
    uint32_t twin_registers; /* of its Mercury form, whose code may need less */
    uint32_t twin_frame;
    uint32_t barriers;
    uint32_t call_stack;  /* its CRS_STACK_SIZE, bytes */
    struct bytes records; /* of its info section */
    uint32_t flags;       /* its own, enum reach_flag */
};

/* One entry of the order in which local symbols are written. */
struct merged_local {
    bool is_section;
    uint32_t file;
    uint32_t index; /* merged symbol, or section of the cubin, 0: shared memory that another cubin
                       defines; MERGE_NONE: the cubin's nameless function
                       (TOOLKIT_HAS_NAMELESS_FUNCTIONS) */
};

/* Results of symbol resolution (resolve.c). */
struct resolution {
    uint32_t *symbol_of; /* by input symbol: merged symbol; MERGE_NONE for section symbols */
    uint32_t *owner_of;  /* by input section: the function it belongs to, or MERGE_NONE */
    bool *has_lost;      /* by input symbol: it lost to an earlier cubin's definition */
    bool *gave_way;      /* by input symbol: it was replaced by a later strong definition */
    struct merged_local *locals;
    size_t local_count;
    uint32_t *globals; /* order in which global symbols are written */
    size_t global_count;
    uint32_t *commons; /* in order of their first appearance */
    size_t common_count;
};

/* Whether an input section stores variables that lost (overridden.c). */
enum storage { STORAGE_EMPTY, STORAGE_LOSERS, STORAGE_WINNERS };

/* A range of a cubin's section; `end` is the largest end of this and the earlier ranges. */
struct lost_range {
    uint32_t file;
    uint32_t section;
    uint64_t begin;
    uint64_t end;
};

/* Weak definitions that lost to an earlier cubin's (overridden.c). */
struct losses {
    struct lost_range *ranges; /* storage of variables that lost, sorted */
    size_t range_count;
    size_t range_capacity;
    enum storage *storage; /* by input section */
    bool *is_pointed_at;   /* by input symbol: data that is kept holds its address */
    bool *is_relocated;    /* by input section: it has relocations */
};

/* The call graph, read from the cubins' call graphs (graph.c). Functions are merged symbols; a
 * prototype is the index of a string. */
struct call_graph {
    struct text *prototypes; /* distinct strings */
    size_t prototype_count;
    size_t prototype_capacity;
    struct merged_lists calls;      /* by symbol: callees, last read first */
    struct merged_lists references; /* by symbol: functions whose address it takes */
    struct merged_lists called;     /* by symbol: prototypes of its indirect calls */
    struct merged_lists taken;      /* by symbol: prototypes under which its address is taken */
    struct merged_lists candidates; /* by prototype: functions whose address is taken */
    struct merged_pairs declared;   /* (symbol, prototype), reading order */
};

/* Summary of everything that a node can reach (reach.c). */
struct reach {
    uint64_t stack;      /* bytes of the deepest path; without meaning under REACHES_CYCLE */
    uint64_t twin_stack; /* the same for the Mercury form */
    uint64_t call_stack; /* bytes of CRS_STACK_SIZE along the deepest path */
    uint32_t registers;
    uint32_t twin_registers;
    uint32_t dearest; /* the function that uses that many registers */
    uint32_t barriers;
    uint32_t flags;
};

/* Kinds of input sections. */
enum input_kind {
    INPUT_ANY, /* for merging_next_of() */
    INPUT_OTHER,
    INPUT_RELOCATIONS, /* REL or RELA, not empty */
    INPUT_INFO,        /* .nv.info, .nv.info.F */
    INPUT_TWIN_INFO,   /* their Mercury twins */
    INPUT_SHARED,
    INPUT_CONSTANT, /* of any bank, of the program or a function */
    INPUT_NOTE,
    INPUT_GRAPH,   /* .nv.callgraph, .nv.prototype */
    INPUT_UNIFIED, /* entries of unified tables */
};

/* What code names (records.c). */
struct uses {
    struct merged_lists shared; /* by function: shared variables named by its code */
    bool *is_shared_named;      /* by symbol: a shared variable named by code, even dead code */
    uint32_t *references;       /* to textures, samplers and surfaces: symbols, by kind */
    size_t reference_count;
    bool names_reference; /* some code, even dead code, names one */
};

struct merging {
    const struct merge_request *request;
    const struct cubin *const *cubins;
    size_t count;
    const struct target_facts *target; /* of the code: that of the first cubin */
    struct image *image;               /* its arena holds what will be written */
    struct arena arena;                /* everything else */
    bool failed;                       /* the current step reported an error */

    unsigned abi;     /* of the output: CUBIN_ABI_VERSION, or CUBIN_OLD_ABI_VERSION */
    uint32_t toolkit; /* the newest one of inputs of CUDA 12 */

    size_t *symbol_base;
    size_t *section_base;
    uint8_t *kinds;              /* by input section: enum input_kind */
    const struct pruned *pruned; /* cubins whose frames frames.c has changed */

    struct merged_symbol *symbols;
    size_t symbol_count;
    struct resolution resolved;
    struct losses losses;
    struct call_graph graph;
    bool *is_live;                     /* by symbol: a function that is kept (reach.c) */
    struct merged_function *functions; /* by symbol (records.c) */
    uint32_t *info_order;              /* by symbol: of its info section in reading order */
    struct uses uses;
    struct reach *reach; /* by node */
    struct {
        uint32_t *seen;  /* by node: the last walk that visited it */
        uint32_t *queue; /* nodes */
        uint32_t walk;
    } walker; /* scratch memory for walks over the call graph */

    struct placing *out; /* what merge/ makes of it (merge/internal.h) */
};

/* Reports an error (a format and its arguments): the step goes on, and fails when it ends. */
#define MERGING_ERROR(m, ...) ((m)->failed = !diag_error(__VA_ARGS__))

/* The same for a limit of the target that the whole program exceeds. */
#define MERGING_REFUSAL(m, ...) ((m)->failed = !diag_refusal(__VA_ARGS__))

/* `count` indices in the merge's arena, all MERGE_NONE. */
static inline uint32_t *merging_none(struct merging *m, size_t count)
{
    uint32_t *indices = arena_alloc(&m->arena, count, sizeof *indices);

    memset(indices, 0xff, count * sizeof *indices);
    return indices;
}

/* Targets whose cubins carry Mercury twins. */
static inline bool merging_is_mercury(const struct merging *m)
{
    return (m->target->flags & TARGET_HAS_MERCURY) != 0;
}

static inline bool merging_does(const struct merging *m, enum toolkit_behaviour behaviour)
{
    return toolkit_does(m->request->toolkit, behaviour);
}

static inline bool merging_is_first_mercury(const struct merging *m)
{
    return merging_is_mercury(m) && merging_does(m, TOOLKIT_WRITES_FIRST_MERCURY);
}

/* Whether the cubin is of chunks of this link. */
static inline bool merging_is_made(const struct merging *m, size_t file)
{
    for (size_t i = 0; i < m->request->made_count; i++)
        if (m->cubins[file] == &m->request->made[i])
            return true;
    return false;
}

/* Measured: -g and -preserve-relocs keep dead functions, and the symbols of shared variables. */
static inline bool merging_keeps_all(const struct merging *m)
{
    return m->request->debug || m->request->preserve_relocations;
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

/* A walk over sections of all cubins, in order. Start with {0}. */
struct merging_walk {
    size_t file;
    uint32_t index; /* of the section in its cubin */
    const struct cubin_section *section;
};

static inline bool merging_is(const struct merging *m, size_t file, size_t section,
                              enum input_kind kind)
{
    return m->kinds[m->section_base[file] + section] == kind;
}

/* Advances to the next section of a kind; false past the last. */
static inline bool merging_next_of(const struct merging *m, struct merging_walk *at,
                                   enum input_kind kind)
{
    for (; at->file < m->count; at->file++, at->index = 0) {
        const uint8_t *kinds = m->kinds + m->section_base[at->file];
        size_t count = m->section_base[at->file + 1] - m->section_base[at->file];

        while (++at->index < count)
            if (kind == INPUT_ANY || kinds[at->index] == kind) {
                at->section = &m->cubins[at->file]->sections[at->index];
                return true;
            }
    }
    return false;
}

/* The merged symbol of a cubin's symbol; MERGE_NONE for section symbols. */
static inline uint32_t merging_symbol(const struct merging *m, size_t file, uint32_t index)
{
    return m->resolved.symbol_of[m->symbol_base[file] + index];
}

/* Whether the merged symbol's definition is this one. */
static inline bool merging_defines(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t symbol = merging_symbol(m, file, index);

    return symbol != MERGE_NONE && m->symbols[symbol].file == file &&
           m->symbols[symbol].input == index;
}

/* The function that an input section belongs to, or MERGE_NONE. */
static inline uint32_t merging_owner(const struct merging *m, size_t file, size_t section)
{
    return m->resolved.owner_of[m->section_base[file] + section];
}

/* The function in whose section a symbol is defined, or MERGE_NONE. */
static inline uint32_t merging_holder(const struct merging *m, const struct merged_symbol *symbol)
{
    return symbol->file != MERGE_NONE &&
                   cubin_has_section(m->cubins[symbol->file], symbol->input_section)
               ? merging_owner(m, symbol->file, symbol->input_section)
               : MERGE_NONE;
}

/* An alias's function; any other symbol itself. */
static inline uint32_t merging_canonical(const struct merging *m, uint32_t symbol)
{
    uint32_t alias = m->symbols[symbol].alias;

    return alias == MERGE_NONE ? symbol : alias;
}

/* Whether a function lies inside another's section, behind its begin: ptxas -ewp leaves such,
 * "$kernel$function". */
static inline bool merging_is_inner(const struct merging *m, uint32_t symbol)
{
    const struct merged_symbol *function = &m->symbols[symbol];

    return function->alias != MERGE_NONE &&
           m->cubins[function->file]->symbols[function->input].value != 0;
}

/* Whether an input section is kept: it belongs to no function, or to a live one defined here. */
static inline bool merging_keeps(const struct merging *m, size_t file, size_t section)
{
    uint32_t owner = merging_owner(m, file, section);

    return owner == MERGE_NONE || (m->is_live[owner] && m->symbols[owner].file == file);
}
