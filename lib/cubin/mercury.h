/* mercury.h: the Mercury twins of one cubin, a second form of its code, and their symbol table
 * (minilink-cubin(5) states the rules). */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "cubin/cubin.h"

/* Section indices of Mercury's own tables. */
struct cubin_twins {
    uint32_t symtab;  /* 0 = none */
    uint32_t indices; /* of the table of 32-bit section indices; 0 = none */
};

/* Finds the tables. False if the cubin has no Mercury section at all. */
bool cubin_twins_find(const struct cubin *cubin, struct cubin_twins *twins);

/* The row of Mercury's symbol table that stands for symbol `index`; zeroes if there is none. */
Elf64_Sym cubin_twin_symbol(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index);

/* That row's section: an index, SHN_UNDEF, or a special index of format.h. */
uint32_t cubin_twin_section(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index);

/* Returns why the twins cannot be carried over, as a text for cubin_twins_leave_out(), or NULL if
 * they can: then symbol i means the same in both tables, so that one numbering serves both, and
 * sections that belong to a function name it (cubin_twin_code). */
const char *cubin_twins_check(const struct cubin *cubin, const struct cubin_twins *twins);

/* Warns that the twins of all inputs are left out because of this one, and why. */
void cubin_twins_leave_out(const struct cubin *cubin, const char *why);

/* The code section whose twin `section` is, or belongs to; 0 = none. */
uint32_t cubin_twin_code(const struct cubin *cubin, const struct cubin_section *section);

/* True for a twin that belongs to one function and names it. */
bool cubin_twin_is_owned(const struct cubin_section *section);

/* Whether symbol `index` is defined in a section in the plain table and in its twin in Mercury's
 * table; sets *plain and *twin to the two sections. */
bool cubin_twins_pair(const struct cubin *cubin, const struct cubin_twins *twins, uint32_t index,
                      uint32_t *plain, uint32_t *twin);

/* Size of the three words at the start of the twin of code; the first is the index of the code
 * section. */
#define CUBIN_TWIN_CODE_HEADER 12u
