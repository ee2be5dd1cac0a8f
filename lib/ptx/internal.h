/* internal.h: what the files of the module parser share, and the steps of program_link(). */
#pragma once

#include "ptx/parser.h"
#include "ptx/program.h"

/* Moves from the current token, an opening brace, behind its closing brace. If there is none, fails
 * with "WHAT 'NAME' does not end", or so for a comment; without `what`, "'{' without '}'". */
void parser_braces(struct parser *parser, const char *what, struct text name);

/* The number behind the current token, `.align`. */
uint32_t parser_alignment(struct parser *parser);

/* The array suffix "[4][2]": adds its dimensions to *found, and sets *is_open when the first is
 * empty or 0. Returns the number of elements, for which an open one counts as 1. */
uint64_t parser_dimensions(struct parser *parser, struct ptx_dimensions *found, bool *is_open);

/* Bytes of an element, or of a vector of them; handles of textures and the like have 8. */
static inline uint32_t parser_element_size(uint8_t type, uint8_t vector)
{
    return (ptx_type_size(type) ? ptx_type_size(type) : 8) * vector;
}

/* Adds an item, whose text goes from `start` to the end of the token before the current one, unless
 * the parser has failed. */
void parser_add(struct parser *parser, const struct ptx_item *item, size_t start);

/* function.c: after the linkage; the current token is `.func` or `.entry`. */
void parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start);

/* ".attribute(...)": sets its fields in *variable, which is NULL for a function. */
void parser_attribute(struct parser *parser, struct ptx_variable *variable);

/* expression.c: fails with an error at `place` that says where the fault is: at that token, or in
 * which variable's initial value. Returns 0. */
struct constant expression_fail(struct parser *parser, size_t place, const char *fault);

/* Moves past a mark that must stand here. */
void expression_mark(struct parser *parser, char mark, const char *fault);

/* initialiser.c: how many elements of the open dimension the initial value "{a, b, {c, d}}" has. */
uint64_t initialiser_count(struct text initialiser);

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

/* source_place.c: the place of `at` in a function or variable of the module: the source line of the
 * .loc before it, else its line of PTX. `at` may be NULL: the beginning of the function. Texts live
 * in `arena`. */
struct diag_place source_place(const struct ptx_module *module, const struct ptx_item *item,
                               const char *at, struct arena *arena);

/* Where the item names `name`; NULL: nowhere. */
const char *source_find(const struct ptx_item *item, struct text name);
