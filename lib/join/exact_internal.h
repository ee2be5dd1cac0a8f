/* exact_internal.h: the state of an exact join, and its steps. */
#pragma once

#include <stdbool.h>

#include "cubin/cubin.h"
#include "cubin/image.h"
#include "facts/targets.h"
#include "join/join.h"

/* Owner of a section, symbol or record: a kernel's place in the order of compilation (0 = the last
 * of the text), from kernel_count on a closing kernel; or EXACT_COMMON: no single kernel. */
#define EXACT_COMMON TABLE_NONE

/* Name of a symbol that may be nameless in the result, see exact_is_erased(), and its key. */
#define EXACT_ERASED_NAME ".nv.reservedSmem.cap"
#define EXACT_UNNAMED     TEXT("\0unnamed") /* no name has a NUL */

/* An entry of an ordered list. */
struct exact_item {
    struct text key; /* identifies a common item in all chunks; unused for owned items */
    uint32_t owner;
    struct exact_input *input; /* its chunk */
    uint32_t index;            /* of its section, symbol or record in its chunk */
    struct bytes data;         /* records: the bytes in the result; frames and lines: its own */
    struct cubin_relocation *records; /* frames and lines: relocations, by offset in `data` */
    uint32_t count;                   /* of these; names: zero bytes after its own NUL */
    uint32_t row;                     /* of its symbol in the result, see exact_sort_by_row */
    bool is_head;                     /* one of a kernel's first names and symbols */
    bool is_undefined;                /* one of the driver's functions */
};

struct exact_list {
    struct exact_item *items;
    size_t count;
    size_t capacity;
};

/* Indices of the sections that every chunk and the result begin with. */
enum { EXACT_SECTION_NAMES = 1, EXACT_STRINGS, EXACT_SYMBOLS };

/* Parts of the symbol table. The last is section symbols after the globals, from sm_90 on, which
 * Mercury's table does not have. */
enum { EXACT_LOCALS, EXACT_GLOBALS, EXACT_LAST_LOCALS, EXACT_PARTS };

/* How the assembler writes a program: a row of exact_forms.def. */
struct exact_form {
    struct toolkit_range toolkits;
    enum exact_symbol_form { WEAK_WITH_LOCALS, WEAK_WITH_GLOBALS } symbols;
    enum exact_name_form { NAMES_CREATED, NAMES_REWRITTEN } names;
};

/* One chunk. */
struct exact_input {
    struct bytes file;
    struct cubin cubin;
    size_t locals;            /* rows of the symbol table before the globals */
    size_t globals_end;       /* row past the globals; more local symbols may follow */
    uint32_t *section_owner;  /* by section */
    uint8_t *section_class;   /* by section, enum section_class */
    uint32_t *section_out;    /* by section: in the result, 0 = none */
    uint32_t *symbol_owner;   /* by row */
    uint32_t *symbol_out;     /* by row, 0 = none */
    struct text *symbol_name; /* by row: in the result */
    struct table symbols;     /* name -> row, without section symbols */
    struct table sections;    /* name -> index */
    struct exact_place {
        size_t begin, end; /* the chunk's items */
        size_t first;      /* start of the first run */
        size_t last;       /* end of the last run */
    } merge;               /* of the list that is being joined: scratch of exact_merge */
};

/* A kernel. */
struct exact_kernel {
    struct exact_input *input; /* its chunk */
    struct bytes externs;      /* words: rows of its external symbols */
    struct exact_run {
        size_t begin, end; /* equal: it has no items there */
    } run;                 /* in the list that is being joined: scratch of exact_merge */
};

struct exact {
    struct arena arena;
    const struct exact_join_request *request;
    struct exact_join_difference *why;
    struct exact_input *inputs;
    size_t count;
    const struct exact_form *form;
    uint8_t order[CLASS_COUNT + 1]; /* of classes in the file */
    uint8_t place[CLASS_COUNT + 1]; /* by class: its place in `order` */
    struct exact_kernel *kernels;   /* in the order of compilation; closing kernels come last */
    struct table kernel_names;      /* name -> its place there */
    size_t kernel_count;            /* without closing kernels */
    size_t owner_count;             /* with them */
    struct exact_input *base;   /* the chunk of kernel 0, whose items the program's own follow */
    bool is_closed;             /* it has closing kernels */
    struct table seen;          /* scratch of exact_merge */
    struct buffer scratch;      /* contents of a section while they are made; see exact_take_data */
    struct exact_input *erased; /* chunk with the nameless symbol, see exact_is_erased(); or NULL */
    uint32_t erased_row;        /* of that symbol */
    struct exact_input *ends;   /* the chunk that gives the order of items made at the end */
    struct exact_list section_names; /* all of .shstrtab */
    struct exact_list sections;      /* in the order of the file, without the null section */
    struct exact_list symbols[EXACT_PARTS];
    struct image_strings strings;
    struct image image;
};

/* False for what belongs to a closing kernel. */
static inline bool exact_is_kept(const struct exact *join, uint32_t owner)
{
    return owner == EXACT_COMMON || owner < join->kernel_count;
}

/* exact_chunks.c: reads the chunks' cubins, and finds the kernel of each section and symbol, the
 * form of all chunks, and in it the local and global rows of each. */
void exact_read(struct exact *join);

/* Says why the chunks are not joined, and ends the join. `input` is NULL if no chunk is to blame;
 * `section` is an index or 0. */
_Noreturn void exact_refuse(struct exact *join, const struct exact_input *input, size_t section,
                            const char *what);

/* Whether a symbol of that name is nameless in the result. On sm_90 the assembler makes a symbol
 * .nv.reservedSmem.cap if a kernel of the text has shared memory, and overwrites it, including its
 * name, if a kernel still has shared memory after dead code is removed (measured). So the symbol
 * may have its name in one chunk but not in another or in the whole program. */
bool exact_is_erased(const struct exact *join, struct text name);
bool exact_is_nameless(const struct cubin_symbol *symbol);

/* The kernel that a section's name ends with, or EXACT_COMMON. Sets *is_head for one of the three
 * names that are made first for each kernel. */
uint32_t exact_name_owner(const struct exact *join, struct text name, bool *is_head);

/* Index of a chunk's section by its name, or of that for section `out` of the result; 0 = none. */
uint32_t exact_section_named(const struct exact_input *input, struct text name);
uint32_t exact_section_of(const struct exact *join, const struct exact_input *input, uint32_t out);

/* The kind of section `out` of the result, or if it has relocations, of theirs. */
enum section_kind exact_kind_of(const struct exact *join, uint32_t out);

/* Makes the bytes in join->scratch the contents of section `out`. */
void exact_take_data(struct exact *join, uint32_t out);

/* Number of zeros that end rewritten section names. */
size_t exact_name_padding(bool has_mercury);

/* exact_merge.c: appends to *out the items of a list that has those of one chunk after another,
 * each in the order of compilation, in that order: common ones once, closing kernels' never. */
void exact_merge(struct exact *join, const struct exact_list *list, struct exact_list *out);

void exact_push(struct exact *join, struct exact_list *list, const struct exact_item *item);

/* The place of the key in the list from `begin` on; the list's end if it is not there. */
size_t exact_find_key(const struct exact_list *list, size_t begin, struct text key);

/* Sorts items by their `row`. */
void exact_sort_by_row(struct exact_list *list);

/* exact_symbols.c: orders, numbers and renames the symbols; checks, once sections have their
 * numbers, that all chunks have the program's variables, and its own symbols at the same places;
 * writes the symbol tables. */
void exact_join_symbols(struct exact *join);
void exact_check_symbols(struct exact *join);
void exact_write_symbols(struct exact *join);

/* exact_names.c: joins .shstrtab; once the symbols are joined, makes .strtab. */
void exact_join_section_names(struct exact *join);
void exact_join_strings(struct exact *join);

/* The offset of a name in .strtab; 0 = none. */
uint32_t exact_string(const struct exact *join, struct text name);

/* exact_sections.c: sets the order of classes; classes the sections of a chunk; orders and numbers
 * those of the result, makes their headers, and places them as the assembler does. */
void exact_order_classes(struct exact *join);
void exact_classify(struct exact *join, struct exact_input *input);
void exact_join_sections(struct exact *join);
void exact_finish_headers(struct exact *join);
void exact_layout(struct exact *join);

/* Whether it is the name of bank 4, or of its relocations or twins. A kernel's code has offsets in
 * banks 3 and 4 in it, and relocations of the program's variables. These match the whole program's
 * only if every chunk has the same variables at the same places. Bank 4 may be the beginning of the
 * longest one. */
bool exact_is_bank4(struct text name);

/* exact_contents.c: fills the sections but the symbol and string tables; checks that the program's
 * own are the same in all chunks, or merges them. */
void exact_fill(struct exact *join);

/* exact_debug.c: joins frames or a line table, the common section `out` of the result, and its
 * relocations (0 = none); joins the texts of PTX. */
void exact_fill_units(struct exact *join, uint32_t out, uint32_t relocations);
void exact_fill_ptx(struct exact *join, uint32_t out);

/* The chunk whose header of the line table of the source, or of Mercury's twin of it, is the
 * program's; the base if no chunk has that table. */
struct exact_input *exact_find_lines(const struct exact *join, bool is_mercury);

/* Whether exact_fill_units() fills sections of the kind, and their relocations. */
static inline bool exact_has_units(enum section_kind kind)
{
    return kind == KIND_FRAMES || kind == KIND_LINES || kind == KIND_SASS_LINES;
}
