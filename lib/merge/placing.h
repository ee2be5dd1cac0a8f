/* placing.h: what a merge makes of the program that resolve/ found: sections, places, relocations
 * and rows.
 *
 * A section's index is that in placing.sections: one per section that will be written. Sections are
 * made by many steps, and their contents change until the image is built; symbols are placed
 * (struct placed_symbol) until they get their rows. */
#pragma once

#include "merge/merge.h"
#include "resolve/resolve_steps.h"

/* Where a symbol lies in the image. The steps of the layout write it (layout.c, constants.c,
 * shared.c), and symtab.c before the symbols get their rows. */
struct placed_symbol {
    struct text name; /* as written */
    uint64_t value;
    uint32_t section; /* merged section, or MERGE_NONE */
    uint8_t other;    /* st_other as written, except for an executable's data */
};

/* The relocation sections of a section: without and with addends, as its inputs had them, and those
 * of -preserve-relocs. */
enum { LIST_REL, LIST_RELA, LIST_RESOLVED, LIST_COUNT };

/* A section that will be written. */
struct merged_section {
    struct text name;
    uint64_t flags;
    uint64_t alignment;
    uint64_t size;
    const uint8_t *data; /* size bytes: a view into a cubin, or `own` */
    uint8_t *own;        /* a copy in the image's arena that may be changed, or NULL */
    const struct section_facts *facts; /* NULL: of an unknown kind */
    enum section_class class;
    uint32_t type;
    uint32_t entry_size;
    uint32_t function; /* the symbol it belongs to, or MERGE_NONE */
    uint32_t target;   /* relocations: the merged section they apply to; a twin: its plain one */
    uint32_t twin;     /* Mercury's twin of the section, or MERGE_NONE */
    uint32_t lists[LIST_COUNT]; /* of its relocations, or MERGE_NONE */
    uint32_t bank;              /* constants: the bank's number */
    uint32_t input;       /* info sections: the section they come from, in the function's cubin */
    uint32_t copies;      /* moved constants: first of the adjacent entries in placing.constants */
    uint32_t index;       /* in the image; 0 = not placed yet */
    uint32_t row;         /* of its section symbol; 0 = none */
    uint32_t name_offset; /* in .strtab */
    uint32_t header_name; /* in .shstrtab; 0 = not yet there */
    uint8_t info_high;    /* .text: bits 24-31 of sh_info, kept from the input */
};

/* Where an input section's contents went. */
struct merged_place {
    uint32_t section; /* MERGE_NONE: dropped */
    uint64_t offset;
};

/* A section's contents that were copied into another's. */
struct merged_copy {
    uint32_t from;
    uint32_t to;
    uint64_t offset;
};

/* A relocation that is kept. */
struct merged_relocation {
    uint64_t offset;
    int64_t addend;
    uint32_t type;
    uint32_t list;   /* the merged section of relocations that it belongs to */
    uint32_t symbol; /* MERGE_NONE: `section` instead */
    uint32_t section;
};

/* Where contents and code went. */
struct layout {
    struct merged_place *places; /* by input section */
    uint32_t *text_of;           /* by symbol: the merged section of a function's code */
    uint32_t *kernels;           /* symbols, in order of their code */
    size_t kernel_count;
    uint32_t user_constants; /* merged section of the program's constants, or MERGE_NONE */
};

/* Shared variables, and where they lie (shared.c). */
struct shared_memory {
    uint32_t *section_of;     /* by symbol: a kernel's merged section of shared memory */
    bool *is_given;           /* by symbol: the kernel's cubin had such a section */
    uint64_t *address;        /* by symbol: a shared variable's, in the window */
    uint64_t *extern_address; /* by symbol: address at which a function sees `.extern .shared`
                                 variables; UINT64_MAX: none */
    uint32_t debug_section;   /* merged section of variables of several kernels, or MERGE_NONE */
};

/* The words of texture, sampler and surface references (texture.c). */
struct textures {
    uint32_t *words;   /* the references in the order of their words */
    uint64_t *offset;  /* by symbol: of a reference's word in bank 0 */
    uint32_t *bank_of; /* by symbol: a kernel's merged section of bank 0, or MERGE_NONE */
    uint64_t base;     /* offset in bank 0 of the first word */
    size_t relocated;  /* number of kernels whose words have their relocations */
};

/* The symbol table's rows; row 0 is the null symbol. */
struct rows {
    uint32_t *symbols;   /* by row: merged symbol; MERGE_NONE: of a section */
    uint32_t *sections;  /* by row: the merged section of such a row; MERGE_NONE: it has no name */
    uint32_t *of_symbol; /* by merged symbol: its row; 0 = not written */
    uint32_t *nameless;  /* by cubin: that of its nameless function; 0 = none */
    size_t count;
    size_t first_global;
    size_t twin_count; /* number of leading rows that Mercury's symbol table has too */
};

enum name_table { NAMES_STRTAB, NAMES_SHSTRTAB, NAMES_TABLES };

/* The names in both string tables. */
struct names {
    struct table known;               /* the index of each in `places` */
    uint32_t (*places)[NAMES_TABLES]; /* where it stands; 0: not in that table */
    size_t capacity;
    struct buffer tables[NAMES_TABLES];
};

struct placing {
    struct merged_section *sections;
    size_t section_count;
    size_t section_capacity;
    struct table section_names;    /* sections that are found by name */
    struct placed_symbol *placed;  /* by symbol */
    struct layout layout;          /* of code and data */
    struct merged_copy *constants; /* device functions' constants in kernels' sections */
    size_t constant_count;
    struct shared_memory shared;
    struct textures textures;

    bool has_twins;            /* Mercury's sections are merged too; may change to false */
    struct cubin_twins *twins; /* by file: Mercury's symbol table */
    bool *is_outdated;         /* by file: an older finalizer made its code */
    bool *is_plain_only;       /* by symbol: Mercury's tables lack it; NULL: they have all */
    uint32_t twin_symtab;      /* merged sections of Mercury's own tables: symbols, and */
    uint32_t twin_indices;     /* their section indices, or MERGE_NONE */

    struct {
        struct merged_relocation *items;
        size_t count;
        size_t capacity;
    } relocations; /* of all lists, in reading order */

    struct merged_lists classes; /* by class, including CLASS_COUNT: sections in creation order */
    uint32_t *order;             /* the merged sections in the order of the image */
    size_t order_count;
    struct rows rows;
    struct names names;
    uint32_t *created; /* all merged sections in the order in which nvlink makes them */
    size_t created_count;
    uint32_t nameless;          /* in .strtab: the empty name of functions that have none */
    struct image_symbols table; /* .symtab */
};

/* Whether it is a function's section of a constant bank. */
static inline bool merged_is_bank(const struct merged_section *section, uint32_t bank)
{
    return section->class == CLASS_FUNCTION_CONSTANT && section->bank == bank;
}

static inline bool merged_is_twin(enum section_class class)
{
    return class >= CLASS_TWIN_TEXT && class <= CLASS_TWIN_SYMTAB;
}

/* Where an input section's contents went. */
static inline const struct merged_place *merging_place(const struct merging *m, size_t file,
                                                       size_t section)
{
    return &m->out->layout.places[m->section_base[file] + section];
}
