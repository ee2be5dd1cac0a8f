/* symbol_names.h: names of symbols in messages; and messages about symbols that are missing. */
#pragma once

#include <stdbool.h>

#include "diag/diag.h"

/* Replaces each mangled one of `names` by its demangled form: "_Z6kernelPfi" becomes "kernel(float
 * *, int)", with nvlink's spacing, in `arena`; of names of static symbols in whole programs, only
 * the last part (below). A name stays as it is if it is not mangled, longer than 64 KiB before or
 * after, or takes more than 0.3 seconds; all names do if the system has no demangler. Starts a
 * child; see exec.h for who may. */
void symbol_names_demangle(struct text *names, size_t count, struct arena *arena);

/* The last part of __nv_static_..._<mangled>; other names as they are. */
struct text symbol_names_part(struct text name);

/* How messages print each of `names`, in `arena`: a mangled one demangled, "helper(int)", all by
 * one child; other names, and all under --no-demangle, in quotes, "'helper'". */
const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena);

/* The same of one name, always in quotes: "'helper(int)'". */
const char *symbol_names_quoted(struct text name, struct arena *arena);

/* The name without types, "ns::helper" of _ZN2ns6helperEi, and "helper" of helper, a C name; in
 * `arena`. Empty for templates, operators and other names that are not that simple. */
struct text symbol_names_base(struct text name, struct arena *arena);

/* Notes on missing symbols: what refers to each, and definitions with similar names:
 * those that differ only in the types of parameters, or in C or C++ linkage.
 *
 * Notes are made twice in the same way: first only to collect the names in them, so that one child
 * demangles all of these (diag/symbol_names.h), and then to be reported. */
#define MISSING_NONE UINT32_MAX

/* All three are the caller's numbers. */
struct missing_reference {
    uint32_t symbol; /* the missing one */
    uint32_t file;
    uint32_t by; /* a symbol of the file */
};

/* What the caller says of a symbol, and of what missing_explain() finds. */
struct missing_words {
    void *argument;
    /* The error about number `i`, and the notes behind it. */
    void (*report)(void *argument, size_t i);
    void (*explain)(void *argument, size_t i);
    /* A note on one reference. */
    void (*refer)(void *argument, const struct missing_reference *reference);
    /* A note on a definition of a similar name; false if it is of another kind of thing. */
    bool (*resemble)(void *argument, uint32_t symbol, uint32_t definition);
};

/* Start with {.words = ...}. */
struct missing {
    struct missing_words words;
    struct arena arena;
    bool *is_missing; /* by symbol; to be set by the caller */
    struct missing_reference *references;
    size_t reference_count, reference_capacity;
    struct text *bases; /* of the names of definitions, by symbol; else empty */
    size_t symbol_count;
    struct text *names; /* in notes */
    size_t name_count, name_capacity;
    const char *const *shown; /* of these; NULL the first time */
    size_t said;
};

/* For symbols below `count`. All is in the arena, which is the caller's to free. */
void missing_begin(struct missing *missing, size_t count);

/* Adds a definition; a reference, if the symbol is missing. */
void missing_define(struct missing *missing, uint32_t symbol, struct text name);
void missing_refer(struct missing *missing, const struct missing_reference *reference);

/* Reports `count` errors, each of the first `explained` with its notes; elsewhere[i] is the last of
 * these, or NULL. */
void missing_report(struct missing *missing, size_t count, size_t explained,
                    const char *const *elsewhere);

/* For `explain`: notes the references, of one file or of all (MISSING_NONE), in order of files and
 * symbols, and definitions with names similar to `name`; at most three of each. */
void missing_explain(struct missing *missing, uint32_t symbol, uint32_t file, struct text name);

/* How a note prints the name. */
const char *missing_say(struct missing *missing, struct text name);

/* A note, the second time; `place` may be NULL. */
void missing_note(struct missing *missing, const struct diag_place *place, const char *format, ...)
    PRINTF(3, 4);

/* How a definition differs from the missing name; follows "is defined in 'a.o', ". */
const char *missing_difference(struct text missing, struct text defined);
