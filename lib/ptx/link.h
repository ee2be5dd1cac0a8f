/* link.h: the steps of program_link, in their order. Private to ptx/. */
#pragma once

#include <stdbool.h>

#include "base/table.h"
#include "ptx/program.h"
#include "ptx/symbol.h"

/* symbols.c: makes every module's entries and the program's symbols from its items. When it fails,
 * they are made as well, so that the next steps can find more errors. */
bool symbols_resolve(struct program *program, const struct program_request *request);

/* check.c: true when something must be defined, and is not. */
bool check_lacks_symbols(const struct program *program, const struct program_request *request);

/* After liveness: prototypes of what is used, and undefined references. */
bool check_program(const struct program *program, const struct program_request *request);

struct program_fault {
    bool is_undefined; /* else its prototype is another one than the definition's */
    uint32_t module;   /* which refers to the symbol */
    const struct program_entry *entry;
};

/* diagnostics.c: reports them in nvlink's words and in this order, each with its notes (who refers
 * to what is missing, where, and what is almost it; both prototypes), as long as there is
 * diag_room(). References must be known (live.c). `members` is the request's. */
void diagnostics_report(const struct program *program, const struct program_fault *faults,
                        size_t count, const struct members *members);

/* Reports that a function is a kernel (.entry) for one of two modules only. */
void diagnostics_report_kernel(const struct program *program, const struct ptx_item *first,
                               uint32_t first_module, const struct ptx_item *second,
                               uint32_t second_module);

/* Reports that `second` of module `second_module` defines again what `first` does. */
void diagnostics_report_again(const struct program *program, const struct ptx_item *first,
                              uint32_t first_module, const struct ptx_item *second,
                              uint32_t second_module);

/* names.c: gives symbols, section labels and files names that are unique in the program. */
void names_make_unique(struct program *program);

/* live.c: finds what is reachable, and with that every live symbol's references and edits. */
void live_mark(struct program *program, const struct program_request *request);

/* What a scan of one piece of text finds. The arrays are malloc'ed and reused from scan to scan. */
struct scan {
    struct program *program;
    uint32_t module;
    struct program_symbol *owner; /* the symbol whose text it is; else one that is thrown away */
    const struct table *labels;   /* labels that are being renamed: a second pass; else NULL */
    const struct table *taken;    /* names of the program at module level, to refuse as labels */
    uint32_t *references;
    size_t reference_count;
    size_t reference_capacity;
    struct program_edit *edits;
    size_t edit_count;
    size_t edit_capacity;
    uint32_t *stamps; /* one for each symbol: the number of the scan that saw it last */
    uint32_t stamp;
    /* Only where marks are wanted. */
    bool wants_marks;
    bool keeps_counters; /* a symbol has a name like a counted label: those stay as they are */
    struct program_mark *marks;
    size_t mark_count;
    size_t mark_capacity;
    struct text last_counter; /* "$L__BB12", and its value */
    uint32_t last_value;
    struct table counters; /* values of more than one in a text */
};

/* scan.c: true when labels that look like this are counted through a module. */
bool scan_is_counted(struct text word);

/* scan.c: puts a name into a module's filter: scans look up only names that pass it. */
void scan_filter_add(struct program_module *module, struct text name);

/* scan.c: what a function's item names. Functions named otherwise than as a call's target are
 * marked as such in the program; what else its body tells is put into scan->owner. */
void scan_function(struct scan *scan, const struct ptx_item *item);

/* scan.c: what a variable's item names. */
void scan_variable(struct scan *scan, const struct ptx_item *item);

/* scan.c: replacements in any other item: an alias or a section. */
void scan_other(struct scan *scan, struct text text);
