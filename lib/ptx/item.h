/* item.h: the declarations of a module (functions, variables and other directives) as views into
 * its text. A statement that declares several variables gives one item for each; bodies of
 * functions stay opaque. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

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
