/* symbol.h: the linked program's symbols and what each refers to, for the stages after program.h.
 *
 * Texts are not rewritten. An edit is a place and its replacement, where a chunk must differ from
 * its source (a symbol's unique name, a number of the file table). A mark is a place where a chunk
 * may differ, so that equal code has equal text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "ptx/item.h"
#include "ptx/program.h"

#define NO_SYMBOL UINT32_MAX

/* A chunk has `replacement` in place of `size` bytes of the source at `at`. */
struct program_edit {
    const char *at;
    size_t size;
    struct text replacement;
};

/* Parts of a text that the code does not depend on: compilers count labels and calls through the
 * whole module, so that one more call in a kernel changes the text of every kernel after it. */
enum program_mark_kind {
    MARK_NAME,    /* a symbol's name, or the front of a parameter's; value: the symbol */
    MARK_STRING,  /* a label of the module's string section */
    MARK_FILE,    /* a number of the file table; value: index in the program's `files` */
    MARK_COUNTER, /* the number in a label; value: its number in the function, from 0 by first
                     appearance */
    MARK_COMMENT,
};

struct program_mark {
    const char *at;
    size_t size;
    uint32_t value;
    uint8_t kind; /* enum program_mark_kind */
};

struct program_symbol {
    struct text name;            /* in chunks; unique in the program */
    struct text own_name;        /* in its source */
    const struct ptx_item *item; /* the definition that won; of an alias, its declaration; else the
                                    most complete declaration */
    uint32_t module;             /* index of the item's module */
    const struct ptx_item *first_item; /* the first that names it, and its module, for messages */
    uint32_t first_module;
    uint32_t number;       /* by first appearance */
    uint32_t alias_target; /* target symbol of an alias, else NO_SYMBOL */
    uint32_t alignment;    /* of a variable: the strictest that a module asks for */
    uint8_t linkage;       /* enum ptx_linkage: as defined; PTX_EXTERN when nothing defines it */
    bool is_function;
    bool is_entry;
    bool is_defined;
    bool is_live;            /* only live symbols go into chunks */
    bool is_address_taken;   /* function named other than as a call's target */
    bool has_body_variables; /* function that declares .shared, .global or .const inside: one
                                instance */
    bool has_body_data;      /* one of those is .global or .const: program-wide data */
    bool calls_indirectly;   /* its body has a .callprototype or a .calltargets */
    bool is_recursive;       /* its body names the function itself */
    uint32_t *references;    /* symbols that its body or initialiser names, each once */
    uint32_t reference_count;
    uint32_t edit_count;
    struct program_edit *edits; /* in its item's text, rising places */
    struct program_mark *marks; /* likewise; with program_request.wants_marks only */
    uint32_t mark_count;
};

/* A name as one module knows it. */
struct program_entry {
    struct text name;
    const struct ptx_item *item;        /* its definition, else its (first) declaration */
    const struct ptx_item *declaration; /* of an alias: its declaration */
    const struct ptx_item *alias;       /* the .alias, or NULL */
    uint32_t symbol;                    /* NO_SYMBOL: a label in a section */
    bool is_global;                     /* has a linkage directive somewhere */
    bool is_used;                       /* live code of this module names it */
    struct text replacement;            /* the name in chunks; empty = the name itself */
};

/* A module's file number, and the program's number for that file. */
struct program_file_number {
    uint64_t own;
    uint32_t number;
    uint32_t index; /* in the program's `files` */
};

struct program_module {
    struct table names; /* to indexes in `entries` */
    struct program_entry *entries;
    size_t entry_count;
    bool has_replacements;             /* some entry has one */
    bool has_percent;                  /* some name begins with % */
    bool renumbers_files;              /* some file has a different number in the program */
    struct program_file_number *files; /* rising `own` */
    size_t file_count;
    /* Edits in the sections of a module whose functions are split, or in the whole text of a module
     * that stays whole because of its debug sections; rising places. */
    struct program_edit *edits;
    size_t edit_count;
};

/* One line of the program's file table. */
struct program_file {
    uint32_t number;
    uint32_t module;  /* the first module that has it */
    struct text name; /* "path", and what follows it */
};
