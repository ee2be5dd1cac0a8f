/* module.h: one PTX module as items: what a linker must know about a translation unit.
 *
 * A module begins with .version and ends before the next one. Its items (functions, variables, file
 * table, sections, aliases, pragmas) are views into the text; bodies of functions stay opaque. One
 * statement that declares several variables gives one item for each. */
#ifndef MINILINK_PTX_MODULE_H
#define MINILINK_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/arena.h"
#include "base/text.h"

enum ptx_linkage {
    PTX_INTERNAL, /* no linkage directive */
    PTX_EXTERN,
    PTX_VISIBLE,
    PTX_WEAK,
    PTX_COMMON,
};

enum ptx_space {
    PTX_SPACE_NONE,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_REG,
    PTX_SPACE_TEX, /* the old `.tex` space */
};

/* Type of one element; the dotted word is module_type_name(). */
enum ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_F32,
    PTX_F64,
    PTX_TEXREF,
    PTX_SURFREF,
    PTX_SAMPLERREF,
};

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
    bool is_register; /* .reg instead of .param */
    bool is_pointer;  /* .ptr */
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
    bool explicit_cluster;
    bool blocks_are_clusters;
    bool is_noreturn;
    bool has_abi_preserve;
    uint32_t abi_preserve; /* .abi_preserve N */
    bool has_abi_preserve_control;
    uint32_t abi_preserve_control; /* .abi_preserve_control N */
};

struct ptx_function {
    struct text head;                 /* ".func (...) name (...)": what a declaration must repeat */
    struct text directives;           /* from behind the head to the body or `;`; may be blank */
    struct text body;                 /* "{ ... }", braces among it; empty for a declaration */
    struct ptx_parameter *parameters; /* return parameters first */
    uint32_t parameter_count;         /* of all */
    uint32_t return_count;            /* of those, the leading return parameters */
    struct ptx_performance performance;
    bool is_entry;
};

struct ptx_variable {
    struct text prefix;      /* ".global .align 4 .b8": space, attributes, alignment, type */
    struct text declarator;  /* "table[16]" */
    struct text initialiser; /* behind `=`: "{1, 2}"; empty when there is none */
    uint8_t space;           /* enum ptx_space */
    uint8_t type;            /* enum ptx_type, of one element */
    uint8_t vector;          /* 1, 2, 4 or 8 elements */
    bool is_array;
    bool is_managed;     /* .attribute(.managed) */
    bool is_unified;     /* .attribute(.unified(...)) */
    uint64_t unified[2]; /* its two numbers */
    uint32_t alignment;  /* bytes: .align, or natural */
    uint64_t size;       /* bytes; 0 = unsized array without an initialiser */
    uint32_t bank;       /* N of .const[N], else 0 */
};

enum ptx_item_kind {
    PTX_FUNCTION,
    PTX_VARIABLE,
    PTX_ALIAS,   /* name, target */
    PTX_FILE,    /* number, target = what follows the number: "path"[, time, size] */
    PTX_SECTION, /* name = ".debug_str", target = the braces and what is in them */
    PTX_PRAGMA,  /* target = the string list */
};

struct ptx_item {
    uint8_t kind;       /* enum ptx_item_kind */
    uint8_t linkage;    /* enum ptx_linkage; functions and variables */
    bool is_definition; /* function with a body; variable that is not .extern */
    uint32_t line;      /* of its first token, from 1, in the whole text */
    struct text name;
    struct text text;   /* all of it: linkage to `;` or `}`. Variables of one statement share it */
    struct text target; /* see enum ptx_item_kind */
    uint64_t number;    /* PTX_FILE: its index */
    union {
        struct ptx_function function;
        struct ptx_variable variable;
    };
};

struct ptx_module {
    const char *file;  /* for messages */
    struct text whole; /* the text that the module is part of */
    struct text text;  /* the module: from .version on */
    uint16_t version_major;
    uint16_t version_minor;
    struct arch target; /* of .target */
    struct text
        target_options; /* what follows the architecture: ", texmode_unified, debug"; or empty */
    bool has_debug;     /* `debug` in .target */
    bool texmode_independent;
    bool map_f64_to_f32;
    uint8_t address_size; /* 32 or 64; 64 when not given */
    bool has_full_debug;  /* it has .debug_info, .debug_abbrev or another section besides .debug_str
                           */
    struct ptx_item *items; /* in order of the text */
    size_t item_count;
};

/* Where the next module of a text begins. Start with {0}. */
struct module_cursor {
    size_t offset;
    uint32_t lines; /* line ends in front of `offset` */
};

/* Parses the module that begins at or behind cursor->offset of `whole` (blanks, comments and NULs
 * may come first) and moves the cursor to its end; at the text's end offset == whole.size.
 * Everything is made in `arena` or is a view into `whole`, which must outlive the module. Errors
 * are reported with their place; the parser goes on behind the next `;` or `}` to find more, up to
 * a limit, and returns false at the end. */
bool module_parse_next(struct ptx_module *module, struct arena *arena, const char *file,
                       struct text whole, struct module_cursor *cursor);

/* The same for a text of which only the module at *offset matters; counts lines from the start. */
bool module_parse(struct ptx_module *module, struct arena *arena, const char *file,
                  struct text whole, size_t *offset);

/* True when nothing but blanks, comments and NULs is left in `whole` from `offset` on. */
bool module_at_end(struct text whole, size_t offset);

/* The bytes of one element of the type; 0 for opaque ones (their handles take 8 in memory). */
uint32_t module_type_size(enum ptx_type type);

/* True for .texref, .samplerref and .surfref. Such a variable has no bytes: it names what the host
 * binds, and all variables of one name in the program are the same one. */
bool module_type_is_opaque(enum ptx_type type);

/* The type that a dotted word names (".f32"), or PTX_NO_TYPE. */
enum ptx_type module_type_find(struct text word);

/* ".f32"; "" for PTX_NO_TYPE. */
const char *module_type_name(enum ptx_type type);

/* ".visible"; "" for PTX_INTERNAL. */
const char *module_linkage_name(enum ptx_linkage linkage);

#endif
