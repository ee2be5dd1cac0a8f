/* internal.h: the steps of join_cubins(), and the results of each for later steps.
 *
 * A *symbol* is an index in one chunk's cubin (an *input*), and a *section* is one of a chunk's; an
 * *entity* is what a symbol stands for in the whole program; and *joined* sections and symbols are
 * indices in the result. */
#pragma once

#include "base/memory.h"
#include "cubin/cubin.h"
#include "split/split.h"

#define JOIN_NONE UINT32_MAX

struct image_strings; /* cubin/image.h */

/* A piece of a section that moves as a whole: an object, objects that overlap, a function's frame
 * description, or all of one chunk's section. */
struct join_block {
    const struct join_section *section;
    uint64_t offset; /* in that section */
    uint64_t size;
    uint64_t alignment;
    uint32_t symbol; /* a symbol in it; 0 = none */
    bool is_kept;
    uint64_t order;  /* of listed objects, then of others by their users, or of functions */
    uint64_t placed; /* offset in the joined section */
};

/* A relocation of a united section. */
struct join_relocation {
    struct cubin_relocation moved; /* with its joined offset and the chunk's symbol */
    const struct join_input *input;
    bool is_in_place; /* goes into the REL section, not the RELA one */
};

/* How sections of all chunks become one. */
enum united_way {
    UNITED_BLOCKS, /* cut into blocks, which are placed */
    UNITED_WHOLE,  /* one after the other, since their objects cannot be separated */
    UNITED_SIZES,  /* objects without an address: only their sizes count */
    UNITED_TWIN,   /* Mercury's, of data: its blocks are placed like the data's */
    UNITED_ANEW,   /* the first's, with contents that are made anew */
};

/* Sections of all chunks that become one. */
struct united_section {
    const struct join_section *first; /* of them */
    uint64_t alignment;
    uint64_t size;
    enum united_way way;
    bool is_frames;    /* .debug_frame */
    bool has_in_place; /* it has REL relocations: addends of 0 go there (measured up to sm_89) */
    struct join_block **blocks; /* kept ones, in the result's order */
    size_t block_count, block_capacity;
    uint8_t *data;                       /* NULL if it has no contents */
    uint32_t joined;                     /* section in the result */
    struct join_relocation *relocations; /* those in place first, each kind by descending offset */
    size_t relocation_count, relocation_capacity;
    size_t in_place_count;
};

/* A section of a chunk. All are in one array, chunk after chunk. */
struct join_section {
    const struct cubin_section *source;
    struct join_input *input; /* the chunk */
    enum section_class class;
    struct join_entity *entity;      /* code that is kept: its function, else an alias of it */
    uint32_t function;               /* and its position in the order of functions, or JOIN_NONE */
    uint32_t joined;                 /* in the result, 0 = none */
    bool has_symbol;                 /* a section symbol stands for it */
    struct join_section *text;       /* the code that it belongs to, or NULL */
    struct join_section *next_owned; /* the next of the same code */
    struct join_section *target;     /* of a relocation section */
    struct join_section *first_relocations;     /* the first section that relocates it, */
    struct join_section *next_relocations;      /* of a relocation section: the next one */
    const struct cubin_relocation *relocations; /* including those of Mercury sections */
    size_t relocation_count;
    struct join_section *plain; /* of Mercury's twin: its plain section; NULL = not known */
    uint32_t first_object; /* the first symbol defined in it, except section symbols; 0 = none */
    struct united_section *united; /* the united section that it becomes part of, or NULL; */
    struct join_block *blocks;     /* and its blocks there, by ascending offset */
    size_t block_count;
};

/* A record of .nv.info. */
struct join_record {
    struct bytes raw;
    const struct join_input *input;
    uint32_t symbol;          /* its first word, 0 = none */
    struct join_record *next; /* of the same symbol */
};

struct join_input {
    const struct cubin *cubin;
    struct join_entity **entities; /* by symbol, after folding; NULL for section symbols */
    uint32_t *next_object;         /* by symbol: the next in the same section, 0 = none */
    struct join_section *sections;
    struct join_record *records;
    size_t record_count, record_capacity;
    struct join_record **first_record; /* by symbol */
    bool *is_bound;   /* by symbol: a function that some chunk defines, no kernel */
    uint32_t *joined; /* by symbol: the result's, 0 = dropped; set by join_make_symbols() */
};

enum join_state { JOIN_UNDEFINED, JOIN_COMMON, JOIN_WEAK, JOIN_DEFINED };

/* What one name, or one chunk's local symbol, stands for. */
struct join_entity {
    struct text name; /* in the chunks */
    enum join_state state;
    struct join_input *input; /* with `symbol`: the definition that is kept, or a mention of it */
    uint32_t symbol;
    const struct cubin_symbol *source; /* that symbol */
    struct join_section *section;      /* that it is defined in, or NULL */
    uint32_t listed;                   /* index among the chunk symbols, or JOIN_NONE */
    uint32_t group;     /* local functions: copies have the same one; else JOIN_NONE */
    uint32_t user;      /* position of the first function that refers to it, or JOIN_NONE */
    bool is_by_name;    /* the same name is the same entity in every chunk */
    bool has_prototype; /* the call graph has it, for the function's address */
    bool used_by_data;
    bool used_by_copy; /* a function that was folded away refers to it */
    uint64_t value;    /* in the result */
    uint64_t size;
    uint32_t index; /* in the result; 0 = none yet */
};

/* Origin of a joined section. */
struct join_origin {
    const struct join_section *section;  /* NULL = made anew */
    const struct united_section *united; /* whose relocations it has, or NULL */
    uint32_t twin;                       /* Mercury's, joined; 0 = none */
    bool wants_symbol;
    uint32_t symbol; /* 0 = none; set by join_make_symbols() */
};

struct join {
    struct arena arena; /* for everything in this struct */
    struct cubin *out;
    struct join_input *inputs;
    size_t count;
    struct join_section *sections; /* of all chunks; each chunk's from its null section on */
    size_t section_count;
    const struct chunk_symbol *symbols;
    bool keeps_data;       /* the only chunk's variables stay in its order */
    struct buffer scratch; /* contents of a section under construction; else empty */
    struct table listed;   /* name in the chunks -> chunk symbol */
    struct join_entity *entities;
    size_t entity_count;
    struct join_section **functions; /* kept code, in program order */
    size_t function_count;
    struct united_section **united;
    size_t united_count, united_capacity;
    bool has_mercury;        /* Mercury's sections take part */
    struct join_pair *graph; /* call graph and prototypes: join_contents.c */
    size_t graph_count, graph_capacity;
    bool has_prototypes;
    struct join_origin *origins; /* by joined section */
    uint32_t made[CLASS_COUNT];  /* by class: the joined section made anew, 0 = none */
};

/* An object that only a copy of a function that was folded away refers to. */
static inline bool join_is_dropped(const struct join_entity *entity)
{
    return entity->source->binding == STB_LOCAL && entity->listed == JOIN_NONE &&
           entity->user == JOIN_NONE && entity->used_by_copy && !entity->used_by_data;
}

/* Mercury's twin of variables, which is laid out like the variables. */
static inline bool join_is_mercury_data(const struct cubin_section *section)
{
    return cubin_is_mercury(section) &&
           (section->type == SHT_CUDA_MERC_CONSTANT_USER || section->type == SHT_CUDA_GLOBAL_INIT);
}

/* Whether the chunk's symbol is its entity's kept definition or mention. */
static inline bool join_is_first(const struct join_input *input, uint32_t symbol)
{
    const struct join_entity *entity = input->entities[symbol];

    return entity->input == input && entity->symbol == symbol;
}

/* The section in which a chunk's symbol is defined; NULL if undefined, absolute or common. */
static inline struct join_section *join_section_of(const struct join_input *input, uint32_t symbol)
{
    uint32_t section = input->cubin->symbols[symbol].section;

    return cubin_has_section(input->cubin, section) ? &input->sections[section] : NULL;
}

static inline void join_set_data(struct join *join, uint32_t section, const void *data, size_t size)
{
    join->out->sections[section].data = (struct bytes){data, size};
    join->out->sections[section].size = size;
}

/* join_mercury.c: decides whether Mercury's twins can be joined too; else warns why they are left
 * out. Fills twins of united data, and at the end Mercury's own symbol table. */
void join_find_mercury(struct join *join);
void join_unite_mercury(struct join *join);
void join_fill_mercury(struct join *join, struct image_strings *strings);

/* The section in which `symbol` is defined, from the view of the chunk's relocation section `list`:
 * Mercury's relocations see its twins. The null section if it is undefined, NULL if special. */
struct join_section *join_seen_section(const struct join_section *list, uint32_t symbol);

/* join_resolve.c: finds the entity of each symbol, the definition that is kept, and the function of
 * each section. Reports errors and returns false if two chunks define the same symbol. */
bool join_resolve(struct join *join);

/* Puts kept functions in program order, and finds the first user of each entity. */
void join_order(struct join *join);

/* join_fold.c: folds identical copies of a local function into one. */
void join_fold(struct join *join);

/* The entity, or for an alias that of its function. May be NULL, and accepts it. */
struct join_entity *join_function_of(struct join_entity *entity);

/* join_unite.c: unites the sections that functions share, and places each of their blocks. */
void join_unite_sections(struct join *join);

/* The block around `offset`, or NULL. */
const struct join_block *join_blocks_at(const struct join_section *section, uint64_t offset);

/* The offset in the joined section of byte `offset` of a chunk's united section. */
uint64_t join_blocks_translate(const struct join_section *section, uint64_t offset);

/* The addend of a relocation of `list`; in a REL section of data it stands in the field. */
int64_t join_addend(const struct join_section *list, const struct cubin_relocation *relocation);

/* join_sections.c: makes the joined sections, without contents that refer to symbols. */
void join_make_sections(struct join *join);

/* join_symbols.c: makes the joined symbol table. */
void join_make_symbols(struct join *join);

/* The entity's name and binding in the user's program, also for a promoted symbol. */
struct text join_own_name(const struct join *join, const struct join_entity *entity);
uint8_t join_own_binding(const struct join *join, const struct join_entity *entity);

/* join_contents.c: gathers the relocations of united sections, call graph and prototypes; at the
 * end fills in contents that refer to symbols: relocations, info records, call graph, prototypes.
 */
void join_gather_relocations(struct join *join);
void join_gather_graph(struct join *join);
void join_fill_sections(struct join *join);
