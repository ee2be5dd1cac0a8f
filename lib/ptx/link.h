/* link.h: the steps of program_link, in their order. Private to ptx/. */
#ifndef MINILINK_PTX_LINK_H
#define MINILINK_PTX_LINK_H

#include <stdbool.h>

#include "ptx/program.h"
#include "ptx/symbol.h"

/* symbols.c: makes every module's entries and the program's symbols from its items. When it fails,
 * they are made as well, so that the next steps can find more errors. */
bool symbols_resolve(struct program *program);

/* check.c: after liveness: prototypes of what is used, and undefined references. */
bool check_program(const struct program *program, const struct program_request *request);

/* names.c: gives symbols, section labels and files names that are unique in the program. */
void names_make_unique(struct program *program);

/* live.c: finds what is reachable, and with that every live symbol's references and edits. */
void live_mark(struct program *program, const struct program_request *request);

/* What a scan of one piece of text finds. The arrays are malloc'ed and reused from scan to scan. */
struct scan {
    const struct program *program;
    uint32_t module;
    uint32_t self;              /* symbol whose text it is, or NO_SYMBOL */
    const struct table *labels; /* labels that are being renamed: a second pass; else NULL */
    const struct table *taken;  /* names of the program at module level, to refuse as labels */
    uint32_t *references;
    size_t reference_count;
    size_t reference_capacity;
    struct program_edit *edits;
    size_t edit_count;
    size_t edit_capacity;
    uint32_t *stamps; /* one for each symbol: the number of the scan that saw it last */
    uint32_t stamp;
    bool has_body_variables;
    bool is_recursive;
};

/* scan.c: puts a name into a module's filter: scans look up only names that pass it. */
void scan_filter_add(struct program_module *module, struct text name);

/* scan.c: what a function's item names. Functions named otherwise than as a call's target are
 * marked as such in the program. */
void scan_function(struct scan *scan, const struct ptx_item *item, struct program_symbol *symbols);

/* scan.c: what a variable's item names. */
void scan_variable(struct scan *scan, const struct ptx_item *item, struct program_symbol *symbols);

/* scan.c: replacements in any other item: an alias or a section. */
void scan_other(struct scan *scan, struct text text);

#endif
