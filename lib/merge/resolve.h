/* resolve.h: from the cubins' symbols to one symbol per name. */
#pragma once

#include "merge/merging.h"

/* Fills the fields of `m` that belong to this step: symbols, who defines each, aliases, the owners
 * of sections, and the order in which symbols will be written. False, and errors, when definitions
 * contradict each other. */
bool resolve_symbols(struct merging *m);

/* Reports every symbol that nothing defines and that the driver does not bring. Comes after
 * liveness: what only dead code needs is not missed. False when there is any. */
bool resolve_check_undefined(struct merging *m);

/* True for names that every cubin declares for the driver: unified tables, reserved shared memory.
 */
bool resolve_is_reserved(struct text name);

/* True for reserved names that an executable does not mention any more. */
bool resolve_is_unified_table(struct text name);
