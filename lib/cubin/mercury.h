/* mercury.h: one cubin's second form of its code, Mercury's, and the symbol table that goes with it
 * (minilink-cubin(5) states the rules). */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "cubin/cubin.h"

/* Where Mercury's own tables are, as section indices. */
struct cubin_twins {
    uint32_t symtab;  /* 0 = none */
    uint32_t indices; /* of sections that need 32 bits; 0 = none */
};

/* Finds the tables. False when the cubin has no section of Mercury's at all. */
bool cubin_twins_find(const struct cubin *cubin, struct cubin_twins *twins);

/* The row of Mercury's symbol table that stands for symbol `index`; zeroes when there is none. */
Elf64_Sym cubin_twin_symbol(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index);

/* That row's section: an index, SHN_UNDEF, or one of format.h's. */
uint32_t cubin_twin_section(const struct cubin *cubin, const struct cubin_twins *twins,
                            uint32_t index);

/* How many relocations a list of Mercury's has, and one of them: cubin_read() leaves these lists as
 * they are. Its symbol is 0 where the record names none that the cubin has. */
size_t cubin_twin_relocation_count(const struct cubin_section *list);
struct cubin_relocation cubin_twin_relocation(const struct cubin *cubin,
                                              const struct cubin_section *list, size_t index);

/* NULL, or why the twins cannot be carried over, as words for cubin_twins_leave_out(). Else symbol
 * i stands for the same in both tables, so that one numbering serves both, all kinds of sections
 * are known, and those that belong to a function name it (cubin_twin_code). */
const char *cubin_twins_check(const struct cubin *cubin, const struct cubin_twins *twins);

/* Warns that the twins of all inputs are left out because of this one, and why. */
void cubin_twins_leave_out(const struct cubin *cubin, const char *why);

/* The section of code whose twin `section` is, or belongs to; 0 = none. */
uint32_t cubin_twin_code(const struct cubin *cubin, const struct cubin_section *section);

/* True for a twin that belongs to one function and names it. */
bool cubin_twin_is_owned(const struct cubin_section *section);

/* Whether symbol `index` stands in a section in one table and in its twin in the other, and which
 * those are. */
bool cubin_twins_pair(const struct cubin *cubin, const struct cubin_twins *twins, uint32_t index,
                      uint32_t *plain, uint32_t *twin);

/* True for twins of data and of debug information, which all functions share. */
bool cubin_twin_is_shared(const struct cubin_section *section);

/* Size of the three words that stand in front of the twin of code, of which the first is the number
 * of the code section. */
#define CUBIN_TWIN_CODE_HEADER 12u

/* The name of a twin without what marks twins; its symbol has that. */
struct text cubin_twin_plain_name(struct text name);
