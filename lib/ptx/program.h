/* program.h: all modules of the link as one program.
 *
 * This is Phase I (minilink-internals(7), Concurrent compilation), on one thread. Modules are
 * parsed into items, symbols are resolved across modules, symbols that no kernel reaches are
 * dropped, and symbols that would clash in one text are renamed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "base/text.h"

struct ptx_module;      /* ptx/module.h */
struct table;           /* base/text.h */
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
    bool wants_marks; /* find everything that a split under SPLIT_STABLE changes, see symbol.h */
    const struct table *provided; /* names defined by cubins whose code calls nothing here: they may
                                     be undefined; may be NULL */
    const struct members *members; /* all members of the inputs, for notes; may be NULL */
};

/* Start with {0}. The fields after `arena` are for later stages; see ptx/symbol.h. */
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
