/* resolve.h: from the cubins' symbols to one symbol per name. */
#ifndef MINILINK_CUBIN_RESOLVE_H
#define MINILINK_CUBIN_RESOLVE_H

#include "cubin/merging.h"

/* Fills the fields of `m` that belong to this step: symbols, who defines each, aliases, the owners
 * of sections, and the order in which symbols will be written. False, and errors, when definitions
 * contradict each other. */
bool resolve_symbols(struct merging *m);

/* Reports every symbol that nothing defines and that the driver does not bring. Comes after
 * liveness: what only dead code needs is not missed. False when there is any. */
bool resolve_check_undefined(const struct merging *m);

/* Whether a symbol is defined in this cubin, but an earlier one's definition counted then. */
bool resolve_has_lost(const struct merging *m, size_t file, uint32_t index);

/* Whether an address in initialised data is left out, which then holds what the cubin has there
 * (0). Measured on nvlink 13.0: in .nv.global.init those in the storage of a variable that lost,
 * and those of functions that lost; in .nv.constant3 those of everything that lost, and of
 * variables that a later cubin replaced. */
bool resolve_forgets(const struct merging *m, size_t file, const struct cubin_section *list,
                     const struct cubin_relocation *relocation);

/* True for names that every cubin declares for the driver: unified tables, reserved shared memory.
 */
bool resolve_is_reserved(struct text name);

/* True for reserved names that an executable does not mention any more. */
bool resolve_is_unified_table(struct text name);

#endif
