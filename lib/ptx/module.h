/* module.h: one PTX module as items: the parts of a translation unit that a linker needs.
 *
 * A module begins with .version and ends before the next one. Its items (functions, variables, file
 * table, sections, aliases, pragmas) are views into its text. A statement that declares several
 * variables gives one item for each; bodies of functions stay opaque. */
#pragma once

#include <stdbool.h>

#include "facts/targets.h"
#include "diag/diag.h"

/* Linkages, spaces and types (PTX ISA, "State Spaces, Types, and Variables"): the name here and the
 * dotted word; no word: PTX_INTERNAL, PTX_SPACE_NONE and PTX_NO_TYPE. Types are of one element, and
 * have its bytes. */
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

/* One parameter of a function, or one return parameter. */
struct ptx_parameter {
    struct text name;      /* empty when it has none */
    struct text type_text; /* ".b32", ".v4 .f32" */
    uint64_t size;         /* bytes; 0 = unsized array */
    uint32_t alignment;    /* bytes: .align, or natural */
    uint8_t type;          /* enum ptx_type, of one element */
    uint8_t vector;        /* elements of a vector, else 1 */
    bool is_array;
    bool is_return;
    bool is_register;           /* .reg instead of .param */
    bool is_pointer;            /* .ptr */
    uint8_t pointee_space;      /* enum ptx_space that .ptr names, or PTX_SPACE_NONE */
    uint32_t pointee_alignment; /* bytes: .align after .ptr; 0 = not given */
};

/* Directives between a function's parameters and its body. 0 = not given. */
struct ptx_performance {
    uint32_t maxntid[3]; /* a missing dimension is 1 */
    uint32_t reqntid[3];
    uint32_t minnctapersm;
    uint32_t maxnctapersm;
    uint32_t maxnreg;
    uint32_t reqnctapercluster[3];
    uint32_t maxclusterrank;
    uint32_t minperctamemory; /* bytes, since PTX ISA 9.4 */
    bool explicit_cluster;
    bool blocks_are_clusters;
    bool is_noreturn;
    bool has_abi_preserve;
    uint32_t abi_preserve; /* .abi_preserve N */
    bool has_abi_preserve_control;
    uint32_t abi_preserve_control; /* .abi_preserve_control N */
    struct text unknown;           /* the directives that none of these is, as they were written */
};

/* Threads of one block that the directives promise, at most UINT64_MAX; 0 = not given. */
static inline uint64_t ptx_promised_threads(const struct ptx_performance *performance)
{
    const uint32_t *dimensions =
        performance->reqntid[0] ? performance->reqntid : performance->maxntid;
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(threads, dimensions[i], &threads))
            return UINT64_MAX;
    return threads;
}

struct ptx_function {
    struct text head; /* ".func (...) name (...)": the part that a declaration repeats */
    struct text body; /* "{ ... }", braces included; empty for a declaration */
    struct ptx_parameter *parameters; /* return parameters first */
    uint32_t parameter_count;         /* of all */
    uint32_t return_count;            /* of those, the leading return parameters */
    struct ptx_performance performance;
    bool is_entry;
};

/* Of an array, outermost first. */
struct ptx_dimensions {
    uint64_t *sizes; /* the first may be PTX_OPEN: not given */
    uint32_t count;
};

#define PTX_OPEN UINT64_MAX

struct ptx_variable {
    struct text prefix;      /* ".global .align 4 .b8": space, attributes, alignment, type */
    struct text declarator;  /* "table[16]" */
    struct text initialiser; /* after `=`: "{1, 2}"; empty when there is none */
    uint8_t space;           /* enum ptx_space */
    uint8_t type;            /* enum ptx_type, of one element */
    uint8_t vector;          /* 1, 2, 4 or 8 elements */
    bool is_array;
    bool is_managed;     /* .attribute(.managed) */
    bool is_unified;     /* .attribute(.unified(...)) */
    uint64_t unified[2]; /* its two numbers */
    uint32_t alignment;  /* bytes: .align, or natural */
    uint32_t bank;       /* N of .const[N], else 0 */
    uint64_t size;       /* bytes; 0 = unsized array without an initialiser */
    struct ptx_dimensions dimensions;
};

enum ptx_item_kind {
    PTX_FUNCTION,
    PTX_VARIABLE,
    PTX_ALIAS,   /* name, target */
    PTX_FILE,    /* number, target = what follows the number: "path"[, time, size] */
    PTX_SECTION, /* name = ".debug_str", target = the braces and their contents */
    PTX_PRAGMA,  /* target = the string list */
};

struct ptx_item {
    uint8_t kind;       /* enum ptx_item_kind */
    uint8_t linkage;    /* enum ptx_linkage; functions and variables */
    bool is_definition; /* function with a body; variable that is not .extern */
    uint32_t line;      /* of its first token, from 1, in the whole text */
    struct text name;
    struct text text; /* whole item: linkage to `;` or `}`; shared by variables of one statement */
    struct text target; /* see enum ptx_item_kind */
    uint64_t number;    /* PTX_FILE: its index */
    union {
        struct ptx_function function;
        struct ptx_variable variable;
    };
};

struct ptx_module {
    const char *file;  /* for messages; NULL: errors are passed over */
    struct text whole; /* the text that the module is part of */
    struct text text;  /* the module: from .version on */
    uint16_t version_major;
    uint16_t version_minor;
    uint32_t version_line; /* of .version, from 1, in the whole text */
    uint32_t target_line;  /* of the first .target */
    struct arch target;    /* of .target */
    struct text
        target_options; /* what follows the architecture: ", texmode_unified, debug"; or empty */
    bool texmode_independent;
    bool map_f64_to_f32;
    uint8_t address_size;   /* 32 or 64; 64 when not given */
    bool has_full_debug;    /* it has a section besides a .debug_str of nothing but strings */
    bool debug_names_code;  /* and one of those refers to more than sections and its own labels */
    struct ptx_item *items; /* in order of the text */
    size_t item_count;
};

/* Where the next module of a text begins. Start with {0}. */
struct module_cursor {
    size_t offset;
    uint32_t lines; /* line ends before `offset` */
};

/* Parses the module that begins at or after cursor->offset of `whole` (blanks, comments and NULs
 * may come first) and moves the cursor to its end; at the text's end offset == whole.size. The
 * results live in `arena` or are views into `whole`, which must outlive the module. Errors are
 * reported with their place; after one, parsing goes on after the next `;` or `}` to find more, up
 * to a limit, and returns false at the end. */
bool module_parse(struct ptx_module *module, struct arena *arena, const char *file,
                  struct text whole, struct module_cursor *cursor);

/* True when nothing but blanks, comments and NULs is left in `whole` from `offset` on. */
bool module_at_end(struct text whole, size_t offset);

/* source_place.c: the place of `at` in the PTX itself. If `at` lies outside the item, as for names
 * of a range of variables, the item's beginning. The cost is proportional to the text in between.
 */
struct diag_place source_ptx_place(const struct ptx_module *module, const struct ptx_item *item,
                                   const char *at);

/* The first ".loc 1 2 3" of a function, without the rest of the line; empty if it has none. */
struct text source_first_loc(const struct ptx_item *function);
