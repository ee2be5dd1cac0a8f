/* resolve.h: makes one program of the cubins, and answers questions about it, by file. */
#pragma once

#include "resolve/merging.h"

/* Resolves the symbols of m->cubins, finds what is kept and what that needs, and fills in m.
 * Until frames_restore(), for CONTEXT_DEFER, m->cubins lack the frames of what is left out. False,
 * with all errors reported, if they are no program. */
bool resolve_program(struct merging *m);
void frames_restore(void *merging);

/* resolve.c: whether cubins declare the name for the driver: the size of a texture's, sampler's or
 * surface's descriptor, which txq and suq read. */
bool resolve_is_descriptor_size(struct text name);

/* The same: a unified table, which an executable no longer has. */
bool resolve_is_unified_table(struct text name);

/* The same: any of these, or reserved shared memory. */
bool resolve_is_reserved(struct text name);

/* Whether the symbol is the size of the program's constants, against which isspacep.const compares
 * (libcudadevrt's cudaMemcpyAsync does, too). */
bool resolve_is_constants_size(const struct cubin_symbol *symbol);

/* overridden.c: whether a symbol is defined in this cubin, but lost to an earlier definition. */
static inline bool overridden_has_lost(const struct merging *m, size_t file, uint32_t index)
{
    return m->resolved.has_lost[m->symbol_base[file] + index];
}

/* Whether data of a cubin holds a symbol's address outside of storage for which
 * overridden_stays_zero() is true. */
static inline bool overridden_points_at(const struct merging *m, size_t file, uint32_t index)
{
    return m->losses.is_pointed_at[m->symbol_base[file] + index];
}

/* Whether all variables in a section lost. */
static inline bool overridden_all_lost(const struct merging *m, size_t file, size_t section)
{
    return m->losses.storage[m->section_base[file] + section] == STORAGE_LOSERS;
}

/* Whether symbol `index` of a cubin, which became `symbol`, is defined there, but a later cubin's
 * definition replaced it. */
bool overridden_replaced(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether the code of a function that was replaced had relocations. */
bool overridden_had_relocations(const struct merging *m, size_t file, uint32_t index);

/* Whether debug information empties the range of a removed function. Measured: yes if the
 * definition was the kept one, or was replaced by a later cubin's and had no relocations in its
 * code; no if it lost to an earlier cubin's. */
bool overridden_empties_range(const struct merging *m, size_t file, uint32_t index,
                              uint32_t symbol);

/* Whether an address in initialised data is not written, so that the cubin's bytes there (0)
 * remain. This is so in .nv.global.init in the storage of a variable that lost, which nothing reads
 * (measured). In .nv.constant3 such addresses are kept. */
bool overridden_stays_zero(const struct merging *m, size_t file, uint32_t section, uint64_t offset);

/* reach.c: finds the functions that `from` can reach, including itself, visiting only nodes whose
 * m->reach has `flag`. Returns their number; *found is valid until the next walk. Walks share
 * m->walker, so only one may run at a time. */
size_t reach_walk(struct merging *m, uint32_t from, enum reach_flag flag, const uint32_t **found);

/* True if the stack of `kernel` has no bound, or one that does not fit its record. */
bool reach_is_unbounded(const struct merging *m, uint32_t kernel);

/* Notes a recursion that kernel `kernel` can get into. */
void reach_explain_cycle(struct merging *m, uint32_t kernel);

/* records.c: whether the record lists functions outside its cubin that a function needs. */
static inline bool records_is_externs(const struct info_record *record)
{
    return record->attribute == EIATTR_EXTERNS && record->format == EIFMT_SVAL;
}

/* Whether a kernel needs the record if a function that it reaches has it. */
bool records_is_passed_on(const struct merging *m, const struct info_record *record);

/* The bank of compiler constants: numbers too long for an instruction, and tables of switch
 * statements. ptxas puts those of function F into .nv.constant2.F, at offset 0. */
#define CONSTANTS_BANK 2u
