/* symtab.h: the written symbol table. */
#ifndef MINILINK_MERGE_SYMTAB_H
#define MINILINK_MERGE_SYMTAB_H

#include "merge/merging.h"

/* Decides which symbols are written, and gives them and the section symbols their rows. Comes after
 * the sections have their indices. */
void symtab_assign(struct merging *m);

/* Writes .symtab (image section ORDERING_SYMTAB); names go to m->strings. */
void symtab_encode(struct merging *m);

#endif
