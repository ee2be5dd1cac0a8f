/* link.h: the steps of program_link, in their order. Private to ptx/. */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "ptx/program.h"
#include "ptx/symbol.h"

/* symbols.c: makes every module's entries and the program's symbols from its items. It makes them
 * even when it fails, so that the next steps can find more errors. */
bool symbols_resolve(struct program *program, const struct program_request *request);

/* check.c: true when a symbol that must be defined is not. */
bool check_lacks_symbols(const struct program *program, const struct program_request *request);

/* After liveness: checks the prototypes of used functions, and undefined references. */
bool check_program(const struct program *program, const struct program_request *request);

struct program_fault {
    bool is_undefined; /* else its prototype differs from the definition's */
    uint32_t module;   /* which refers to the symbol */
    const struct program_entry *entry;
};

/* diagnostics.c: reports the faults in nvlink's words and in this order, each with its notes, while
 * there is diag_room(). Notes say which symbols refer to a missing one and where, which definitions
 * have a similar name, and what both prototypes are. References must be known (live.c). `members`
 * is the request's. */
void diagnostics_report(const struct program *program, const struct program_fault *faults,
                        size_t count, const struct members *members);

/* Reports that a function is a kernel (.entry) in only one of two modules. */
void diagnostics_report_kernel(const struct program *program, const struct ptx_item *first,
                               uint32_t first_module, const struct ptx_item *second,
                               uint32_t second_module);

/* Reports that `second`, of module `second_module`, defines what `first` already defines. */
void diagnostics_report_again(const struct program *program, const struct ptx_item *first,
                              uint32_t first_module, const struct ptx_item *second,
                              uint32_t second_module);

/* names.c: makes the names of symbols and section labels, and the numbers of files, unique in the
 * program. */
void names_make_unique(struct program *program);

/* live.c: finds all reachable symbols, with the references and edits of each. */
void live_mark(struct program *program, const struct program_request *request);

/* The state of scans. What they find is added to their owner. */
struct scan {
    struct program *program;
    uint32_t module;
    struct program_symbol *owner; /* the symbol whose texts they are; else one that is discarded */
    size_t reference_capacity, edit_capacity, mark_capacity; /* of the owner's arrays */
    const struct table *labels; /* labels to rename, in a second pass; else NULL */
    const struct table *taken;  /* names of the program at module level, to refuse as labels */
    uint32_t *stamps;           /* one for each symbol: the number of the scan that saw it last */
    uint32_t stamp;
    /* Only when marks are requested: */
    bool wants_marks;
    bool keeps_counters; /* a symbol's name looks like a counted label: leave those unchanged */
    struct text last_counter; /* "$L__BB12", and its value */
    uint32_t last_value;
    struct table counters; /* their values, where a text has several */
};

/* scan.c: true for a label of a form that compilers number through a module. */
bool scan_is_counted(struct text word);

/* scan.c: finds the symbols that a function or variable names, and what must be replaced in these,
 * aliases and sections. Functions named other than as a call's target are marked so in the program;
 * a body's other properties are set in scan->owner. */
void scan_item(struct scan *scan, const struct ptx_item *item);
