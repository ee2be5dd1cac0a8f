/* internal.h: what a merge makes of the program that resolve/ found: sections, places,
 * relocations and rows; and its steps in order (merge.c), with what each offers to others. A step
 * that fails has reported all errors that it found, in nvlink's wording, and returns false.
 *
 * A section's index is that in placing.sections: one per section that will be written. Sections are
 * made by many steps, and their contents change until the image is built; symbols are placed
 * (struct placed_symbol) until they get their rows. */
#pragma once

#include "merge/merge.h"
#include "resolve/resolve.h"

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

/* A section that will be written. The fields are narrow, since there may be a hundred thousand. */
struct merged_section {
    struct text name;
    uint64_t flags;
    uint64_t size;
    const uint8_t *data;               /* size bytes: a view into a cubin, or the image's own */
    const struct section_facts *facts; /* NULL: of an unknown kind */
    uint64_t alignment;
    uint32_t type;
    uint32_t entry_size;
    uint32_t function; /* the symbol it belongs to, or MERGE_NONE */
    uint32_t target;   /* relocations: the merged section they apply to; a twin: its plain one */
    uint32_t twin;     /* Mercury's twin of the section, or MERGE_NONE */
    uint32_t lists[LIST_COUNT]; /* of its relocations, or MERGE_NONE */
    union {
        uint32_t input;  /* info sections: the section they come from, in the function's cubin */
        uint32_t copies; /* moved constants: first of the adjacent entries in placing.constants */
    };
    uint32_t index;       /* in the image; 0 = not placed yet */
    uint32_t row;         /* of its section symbol; 0 = none */
    uint32_t name_offset; /* in .strtab */
    uint32_t header_name; /* in .shstrtab; 0 = not yet there */
    uint8_t class;        /* enum section_class */
    uint8_t bank;         /* constants: the bank's number */
    uint8_t info_high;    /* .text: bits 24-31 of sh_info, kept from the input */
    bool is_own;          /* `data` is in the image's arena, and may be changed */
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
    uint32_t *words;                       /* the references in the order of their words */
    uint32_t counts[STT_CUDA_SURFACE + 1]; /* of references, by type of symbol */
    uint64_t *offset;                      /* by symbol: of a reference's word in bank 0 */
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
    struct table section_names;   /* sections that are found by name */
    struct placed_symbol *placed; /* by symbol */
    struct merged_place *places;  /* by input section: where its contents went */
    uint32_t *text_of;            /* by symbol: the merged section of a function's code */
    uint32_t *kernels;            /* symbols, in order of their code */
    size_t kernel_count;
    uint32_t user_constants;       /* merged section of the program's, or MERGE_NONE */
    struct merged_copy *constants; /* device functions' constants in kernels' sections */
    size_t constant_count;
    struct shared_memory shared;
    struct textures textures;

    bool has_twins;        /* Mercury's sections are merged too; may change to false */
    bool *is_outdated;     /* by file: an older finalizer made its code */
    bool *is_plain_only;   /* by symbol: Mercury's tables lack it; NULL: they have all */
    uint32_t twin_symtab;  /* merged sections of Mercury's own tables: symbols, and */
    uint32_t twin_indices; /* their section indices, or MERGE_NONE */

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

static inline const struct merged_place *merging_place(const struct merging *m, size_t file,
                                                       size_t section)
{
    return &m->out->places[m->section_base[file] + section];
}

/* notes.c: adds the sections of the records of the tools that made the image and of its target. */
void notes_add(struct merging *m);

/* The note that names the target. */
static inline const struct section_facts *notes_target(const struct merging *m)
{
    return sections_of_kind(merging_is_first_mercury(m) ? KIND_TARGET_OF_12 : KIND_TARGET, false);
}

/* mercury.c: decides whether the twins of sections can be merged like these, section by section and
 * symbol by symbol, and finds the function of each. */
void mercury_begin(struct merging *m);

/* Whether Mercury's tables lack a symbol that is written: a function of the driver that only the
 * target's instructions call, as nvlink's finalizer made them (textures on sm_107). */
static inline bool mercury_lacks(const struct merging *m, uint32_t symbol)
{
    return m->out->has_twins && m->out->is_plain_only && m->out->is_plain_only[symbol];
}

/* Leaves the twins out from here on, with a warning that says why and names the cubin. */
void mercury_leave_out(struct merging *m, size_t file, const char *why);

/* Clears what .nv_debug_info_reg_sass says of functions that are not in the output, and of later
 * ones of the same name, from sm_100 on; after layout_fill(). */
void mercury_clear_registers(struct merging *m);

/* Finds the twin of each merged section, and adds those that kernels need for constants. Comes
 * after constants_fill(). */
void mercury_pair(struct merging *m);

/* Adds the twins of info sections, after these, and Mercury's symbol table. */
void mercury_add_sections(struct merging *m);

/* Writes the indices of code sections into the twins of the code. */
void mercury_encode(struct merging *m);

/* Writes Mercury's symbol table into the image, after all sections and the names in .strtab. */
void mercury_encode_symbols(struct merging *m);

/* layout.c: adds code, data and debug sections to m->out->sections, fills m->out->places, and gives
 * symbols their section and value. False, and errors, for what does not fit or cannot be merged. */
bool layout_sections(struct merging *m);

/* Gives every section with bytes its contents: a view of the only input, or a copy of all. */
void layout_fill(struct merging *m);

/* The contents of a merged section as a copy that may be changed. */
uint8_t *layout_writable(struct merging *m, uint32_t section);

/* The name of a function's section of this class; `bank` is that of constants. */
struct text layout_name(struct merging *m, enum section_class class, uint32_t bank,
                        uint32_t function);

/* Add a section that the link makes itself, of the program or of a function (MERGE_NONE: of none),
 * with the properties of its row or of its class, and return its index. */
uint32_t layout_make_row(struct merging *m, const struct section_facts *row, struct text name,
                         uint32_t function);
uint32_t layout_make(struct merging *m, enum section_class class, uint32_t function);

/* Adds an empty section of `kernel` like section `model` of a function that it reaches. */
uint32_t layout_make_like(struct merging *m, uint32_t model, uint32_t kernel);

/* Adds a function's info section, made from section `input` of the cubin that defines it. */
void layout_make_info(struct merging *m, enum section_class class, uint32_t function,
                      uint32_t input);

/* Which of a section's lists has this type. */
unsigned layout_list_of(uint32_t type);

/* The name of a section of relocations for a section of this name, without Mercury's part. */
struct text layout_list_name(struct merging *m, const struct section_facts *facts,
                             struct text target);

/* The list of relocations of merged section `target` of a type (SHT_REL, SHT_RELA, one of resolved
 * relocations or of Mercury's), which is added if it is new. Returns its index. */
uint32_t layout_list(struct merging *m, uint32_t target, uint32_t type, uint64_t flags);

void layout_add_relocation(struct merging *m, const struct merged_relocation *relocation);

/* Writes the contents of all lists, once symbols have their rows. An error if a kept relocation
 * names a symbol that is not written. */
void layout_write_relocations(struct merging *m);

/* Replaces a section's contents by a copy of `contents`. */
void layout_set(struct merging *m, uint32_t section, struct bytes contents);

/* By symbol: the function's merged section of a constant bank, or MERGE_NONE. */
uint32_t *layout_find_banks(struct merging *m, uint32_t bank);

/* shared.c: places the variables in the shared memory that the driver reserves, after the driver's
 * own part, and sets the size and alignment of .nv.shared.reserved.0 and its Mercury twin. Under -r
 * a variable's value remains its alignment. False if they need more than the driver reserves. */
bool shared_layout_reserved(struct merging *m);

/* Places the other shared variables (m->out->shared) and adds .nv.shared.K sections. False if a
 * kernel needs more shared memory than there is. */
bool shared_layout(struct merging *m);

/* Bytes of a kernel's section that are reserved for the driver. */
static inline uint64_t shared_reserved_bytes(const struct merging *m)
{
    return m->request->has_no_reserved_shared ? 0 : m->target->reserved;
}

/* A reserved variable's value in Mercury's symbol table: without the driver's own part. */
uint64_t shared_reserved_twin_value(const struct merging *m, uint32_t variable);

/* texture.c: orders the words in bank 0 that lead to texture, sampler and surface references, and
 * makes room for them in each kernel that reaches a function that has such; not under -r. False if
 * a kernel would have too many references. */
bool texture_layout(struct merging *m);

/* Whether a function is a kernel with the words. */
bool texture_has_words(const struct merging *m, uint32_t function);

/* Adds the relocations of the words in the kernels that cubins before `end` define, unless they
 * have them already. */
void texture_relocate(struct merging *m, size_t end);

/* constants.c: moves device functions' compiler constants into the sections of the kernels that
 * reach them, adding missing sections, and sets new values for their symbols; not under -r. False
 * if a kernel's constants exceed the bank. */
bool constants_layout(struct merging *m);

/* Copies the moved constants, after layout_fill(). */
void constants_fill(struct merging *m);

/* relocate.c: writes the values that the link decides into the sections' contents, and collects the
 * relocations that are kept, or listed as resolved for -preserve-relocs, in m->out->relocations,
 * with sections for them. False for types that it cannot resolve. Mercury's that cannot be handled
 * are left out with all twins, but not those of unknown types. */
bool relocate(struct merging *m);

/* attributes.c: whether the link recomputes a function's records from all that it reaches. */
static inline bool attributes_are_summed(const struct merging *m, uint32_t function)
{
    return merged_is_kernel(&m->symbols[function]) && !m->request->relocatable;
}

/* Number of barriers of a function in the output: for a kernel that of all that it reaches. */
static inline uint32_t attributes_barriers(const struct merging *m, uint32_t function)
{
    return attributes_are_summed(m, function) ? m->reach[function].barriers
                                              : m->functions[function].barriers;
}

/* Whether a section of the program's records, of this kind, has any. Measured: if all functions are
 * dead there may be none left, and then no section. */
bool attributes_has_program_records(const struct merging *m, enum input_kind infos);

/* Adds the info sections: .nv.info, then .nv.info.F, a cubin's kernels first. */
void attributes_add_sections(struct merging *m);

/* Writes their contents, once symbols have their rows. False if a record names one without. */
bool attributes_encode(struct merging *m);

/* needs.c: what a kernel needs because of the functions that it reaches, for attributes.c.
 * Set in SPARSE_MMA_MASK for an aliased function, and one that has no mask. */
#define NEEDS_ALIAS_MASK 0x8000u

struct needs {
    struct merging *m;
    bool is_only;      /* the program has one kernel */
    bool is_twin;      /* of Mercury's records */
    bool has_changes;  /* the link drops a function, or one is outside the program */
    bool has_masks;    /* some function that is kept has SPARSE_MMA_MASK ... */
    bool lacks_masks;  /* ... and some lacks it */
    uint32_t *externs; /* of the current kernel */
    size_t extern_count;
    bool adds_externs;   /* other functions add some to those of the program's only kernel */
    uint32_t *extern_of; /* by symbol: the last kernel that listed it */
    uint32_t kernel;     /* number of the current kernel, from 1 */
    uint32_t *reached;   /* from the current kernel: functions with records, as they were read */
    size_t reached_count;
    uint16_t values[UINT8_MAX + 1]; /* by attribute: what these have together */
};

void needs_begin(struct needs *needs, struct merging *m);

/* Collects those of a function: for a kernel its own and those of all that it reaches. */
void needs_collect(struct needs *needs, uint32_t function, bool is_twin);

/* The value of a record of a kernel, with what it reaches. Measured: the program's only kernel
 * keeps its own count, and its own mask where the link leaves all functions as they are. */
uint16_t needs_value(const struct needs *needs, const struct info_record *record, uint32_t kernel);

/* Appends the words of a list (PASSES_UNION), each once. Measured: they are in the order of the
 * functions, but a kernel's own come first where there are several kernels. */
void needs_words(const struct needs *needs, uint8_t attribute, uint32_t kernel,
                 struct buffer *words);

/* Whether the list stands behind the kernel's other records. Measured: where functions add words to
 * those of the program's only kernel. */
bool needs_moves(const struct needs *needs, uint8_t attribute, uint32_t kernel);

/* callgraph.c: adds .nv.callgraph, and .nv.prototype unless it would be empty; and writes their
 * contents, once symbols have their rows. */
void callgraph_add_sections(struct merging *m);
void callgraph_encode(struct merging *m);

/* The call graph as nvlink's text (measured), with or without demangled names, as m->request asks
 * for. Functions have the order and numbers of the symbol table; unlike nvlink's, the list has no
 * empty lines for removed functions. */
void callgraph_print(const struct merging *m, struct buffer *out);

/* ordering.c: the names in both string tables, and the order of the image's sections. */

/* The place of a name in a table, to which it is added if it is new; 0 for an empty one. */
uint32_t names_put(struct merging *m, enum name_table table, struct text name);

/* The places of a section's name in both. */
const uint32_t *names_put_both(struct merging *m, struct text name);
void names_cleanup(void *names);

/* creation.c: finds the order in which nvlink makes sections, m->out->created, and fills both
 * string tables but for the names of global symbols. Comes after all sections have been added. */
void creation_order(struct merging *m);

/* The image's first sections: null, .shstrtab, .strtab, .symtab, and .symtab_shndx if section
 * indices do not fit into st_shndx. */
enum { ORDERING_SHSTRTAB = 1, ORDERING_STRTAB, ORDERING_SYMTAB, ORDERING_INDICES };

/* The row of one of them: those of sections.def have this order. */
static inline const struct section_facts *ordering_table(unsigned index)
{
    return sections_of_class(CLASS_TABLE) + (index - ORDERING_SHSTRTAB);
}

/* Fills m->out->classes and m->out->order, and gives every merged section its index in the image.
 */
void ordering_sections(struct merging *m);

/* Writes the functions with code to `functions`, which has room for one per section, in the order
 * of their symbols, which is the order of code in an executable. Returns their number. */
size_t ordering_functions(struct merging *m, uint32_t *functions);

/* Whether the section stands last: from sm_100 on kernels' parameters have a segment of their own
 * after everything else, unless the link adds words for texture references to that kernel's. Their
 * symbols end the table. */
bool ordering_is_last(const struct merging *m, const struct merged_section *section);

/* Whether the image has .symtab_shndx. */
static inline bool ordering_is_extended(const struct merging *m)
{
    return ORDERING_INDICES + m->out->order_count >= SHN_LORESERVE;
}

/* symtab.c: decides which symbols are written, and gives them and the section symbols their rows,
 * m->out->rows. Comes after the sections have their indices. */
void symtab_assign(struct merging *m);

bool symtab_writes(const struct merging *m, uint32_t symbol);

/* Whether what merged_local says of a cubin is shared memory outside kernels, which may have no
 * section in the image. */
bool symtab_names_debug_shared(const struct merging *m, size_t file, uint32_t input);

/* The merged section for the symbol of a cubin's; of a function's losing copy, the winner's. */
uint32_t symtab_section_named(const struct merging *m, size_t file, uint32_t input);

/* Whether a symbol that other cubins may name becomes local. */
static inline bool symtab_makes_local(const struct merging *m, uint32_t symbol)
{
    return merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) &&
           m->symbols[symbol].file != MERGE_NONE && !m->request->relocatable &&
           merging_does(m, TOOLKIT_MAKES_SHARED_LOCAL);
}

/* Writes the table, and names to .strtab. */
void symtab_encode(struct merging *m);

/* report.c: copies what -v, maps and reports need into the report's arena, after the image. */
void report_fill(struct merge_report *report, struct merging *m);
