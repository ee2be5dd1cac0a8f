/* internal.h: the steps of program_link, in their order. */
#pragma once

#include "ptx/program.h"

/* symbols.c: makes every module's entries and the program's symbols from its items. It makes them
 * even when it fails, so that the next steps can find more errors. */
bool symbols_resolve(struct program *program, const struct program_request *request);

/* check.c: true when a symbol that must be defined is not. */
bool check_lacks_symbols(const struct program *program, const struct program_request *request);

/* After liveness: checks the prototypes of used functions, and undefined references. */
bool check_program(const struct program *program, const struct program_request *request);

/* Report that a function is a kernel (.entry) in only one of two modules, and that `second`, of
 * module `second_module`, defines what `first` already defines. */
void check_report_kernel(const struct program *program, const struct ptx_item *first,
                         uint32_t first_module, const struct ptx_item *second,
                         uint32_t second_module);
void check_report_again(const struct program *program, const struct ptx_item *first,
                        uint32_t first_module, const struct ptx_item *second,
                        uint32_t second_module);

/* names.c: makes the names of symbols and section labels, and numbers of files, unique. */
void names_make_unique(struct program *program);

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
    bool keeps_counters;   /* a symbol's name looks like a counted label: leave those unchanged */
    struct table counters; /* fronts of labels, "$L__BB12", to their values */
};

/* scan.c: true for a label of a form that compilers number through a module. */
bool scan_is_counted(struct text word);

/* scan.c: finds the symbols that a function or variable names, and what must be replaced in these,
 * aliases and sections. Functions named other than as a call's target are marked so in the program;
 * a body's other properties are set in scan->owner. */
void scan_item(struct scan *scan, const struct ptx_item *item);
