/* ordering.h: the order of the image's sections. */
#pragma once

#include "merge/merging.h"

/* The image's first sections: null, .shstrtab, .strtab, .symtab, and where there are more sections
 * than symbols can name by themselves .symtab_shndx. */
enum { ORDERING_SHSTRTAB = 1, ORDERING_STRTAB, ORDERING_SYMTAB, ORDERING_INDICES };

/* The sections of each class in the order of their making, so that who wants some need not look at
 * all; CLASS_COUNT is a class here. */
struct section_classes {
    uint32_t first[CLASS_COUNT + 2]; /* class -> its first in `items` */
    uint32_t *items;
};

/* Fills m->classes and m->order, and gives every merged section its index in the image. */
void ordering_sections(struct merging *m);

/* Writes the functions with code to `functions`, which has room for one for each section, in the
 * order of the symbols: that of the code in an executable. Returns how many. */
size_t ordering_functions(struct merging *m, uint32_t *functions);

/* Whether the image has .symtab_shndx. */
bool ordering_is_extended(const struct merging *m);
