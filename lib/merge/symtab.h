/* symtab.h: which symbols are written, in which order, and the table of them. */
#pragma once

#include "merge/merging.h"

/* The symbol table's rows; row 0 is the null symbol. */
struct rows {
    const uint32_t *symbols;    /* by row: merged symbol; MERGE_NONE: of a section */
    const uint32_t *sections;   /* by row: the merged section of such a row */
    const uint32_t *of_symbol;  /* by merged symbol: its row; 0 = not written */
    const uint32_t *of_section; /* by merged section: its symbol's row; 0 = none */
    size_t count;
    size_t first_global;
    size_t twin_count; /* rows of Mercury's symbol table: the first of these */
};

/* Decides which symbols are written, and gives them and the section symbols their rows, m->rows.
 * Comes after the sections have their indices. */
void symtab_assign(struct merging *m);

/* Makes room for .symtab, image section ORDERING_SYMTAB, which is there. */
void symtab_begin(struct merging *m);

/* Writes it; names go to m->strings. Touches nothing else. */
void symtab_encode(struct merging *m);
