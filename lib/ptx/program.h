/* program.h: all modules of the link as one program.
 *
 * This is Phase I (minilink-internals(7), Concurrent compilation), on one thread. Modules are
 * parsed into items, symbols are resolved across modules, symbols that no kernel reaches are
 * dropped, and symbols that would clash in one text are renamed. */
#pragma once

#include "ptx/module.h"

struct entry_selection; /* options/consensus.h */
struct members;         /* input/member.h */
struct used_names;      /* input/used.h */

/* One PTX text; it may hold several modules, each from its .version on. */
struct program_source {
    const char *name; /* member name, for messages */
    struct text text; /* must outlive the program */
};

/* A line of a source; `file` is NULL for none. */
struct program_line {
    const char *file;
    uint32_t line;
};

struct program_request {
    struct arch arch; /* the target of the link */
    bool keep_dead;   /* -g or -r: keep functions that nothing reaches */
    bool keep_whole; /* the same, unless something is undefined: then only dead code may refer to it
                      */
    bool keep_exported;   /* -ewp: keep functions that other modules may call */
    bool drop_variables;  /* -lto: also variables that neither live code nor host code names */
    bool allow_undefined; /* symbols may be defined by a cubin that is merged later, and its code
                             may call what is defined here */
    bool takes_first;     /* of several definitions, with a warning */
    const struct used_names *used; /* names that are live, unless keep_dead; NULL = all kernels */
    const struct entry_selection *entries; /* names that must exist; may be NULL */
    bool selects_entries;                  /* ... and be kernels: the others are dropped */
    bool wants_marks; /* find everything that a split under SPLIT_STABLE changes (program_mark) */
    const struct table *provided; /* names defined by cubins whose code calls nothing here: they may
                                     be undefined; may be NULL */
    const struct members *members; /* all members of the inputs, for notes; may be NULL */
};

/* Start with {0}. The fields after `arena` are for later stages. */
struct program {
    struct arena arena;
    struct ptx_module **modules;
    struct program_module *details; /* parallel to `modules`: what linking found out about each */
    size_t module_count;
    struct program_symbol *symbols; /* every function and variable, once; in definition order */
    size_t symbol_count;
    uint16_t version_major; /* of the newest module: what every chunk's .version says */
    uint16_t version_minor;
    struct arch target; /* the most demanding .target of the modules: what every chunk's says */
    struct program_line version_from; /* where the .version and the .target are */
    struct program_line target_from;
    struct program_file *files; /* the program's .file table, rising numbers */
    size_t file_count;
    size_t dropped_functions; /* unreachable ones, not among `symbols` with a live flag */
};

/* Parses and links `count` sources. Reports all errors of the stage, each with its place or both
 * places, in nvlink's words where nvlink has a message; false when there was one. */
bool program_link(struct program *program, const struct program_source *sources, size_t count,
                  const struct program_request *request);

void program_free(struct program *program);

/* True for a function that the driver provides at load time: it stays undefined in the output. */
bool program_driver_provides(struct text function);

/* The linked program's symbols and what each refers to, for later stages.
 *
 * Texts are not rewritten. An edit is a place and its replacement, where a chunk must differ from
 * its source (a symbol's unique name, a number of the file table). A mark is a place where a chunk
 * may differ, so that equal code has equal text. */
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

/* A PTX text that may take part in a link, if it is a member of an archive, as linkers of other
 * machines decide it (needed.c). */
struct needed_text {
    struct text text; /* of gbl-ctors.o: needed_choose() adds the arrays */
    const char *name; /* for the caller */
    bool is_member;   /* of an archive; else it takes part */
    bool is_needed;   /* set by needed_choose() */
};

/* Sets is_needed of each text, in order of the inputs. `undefined` are names that the rest of the
 * link needs. The texts are read at their top level only. Errors there are found when the text is
 * linked; one with errors and ".entry" takes part. What is added to texts is in `arena`. */
void needed_choose(struct needed_text *texts, size_t count, const struct text *undefined,
                   size_t undefined_count, struct arena *arena);
