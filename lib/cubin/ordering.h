/* ordering.h: the order of the image's sections. */
#ifndef MINILINK_CUBIN_ORDERING_H
#define MINILINK_CUBIN_ORDERING_H

#include "cubin/merging.h"

/* The image's first sections: null, .shstrtab, .strtab, .symtab. */
enum { ORDERING_SHSTRTAB = 1, ORDERING_STRTAB, ORDERING_SYMTAB, ORDERING_FIRST };

/* Fills m->order and gives every merged section its index in the image. False, and an error, when
 * there are more sections than symbols can name. */
bool ordering_sections(struct merging *m);

#endif
