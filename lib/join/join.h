/* join.h: joins the cubins of one program's chunks into one relocatable cubin.
 *
 * The result is what the assembler would have made of the unsplit program: functions, variables and
 * their sections stand in program order, identical replicas are folded into one, promoted symbols
 * get their own names and bindings back, and undefined references between chunks are bound to their
 * definitions. Its bytes therefore do not depend on the number of chunks (with an assembler whose
 * code for a function does not depend on its chunk, as the built-in one).
 *
 * Copies of a local function that are not identical remain separate local functions of one name.
 * Objects that the splitter does not list (static variables of a function body, the assembler's
 * own) follow the listed ones, in the order of the first functions that refer to them, aligned to
 * 16 bytes or to the alignment of their place in the chunk if that is larger. A data section with
 * bytes outside of its objects, and all debug information but .debug_frame and units of
 * .debug_line, is concatenated in chunk order instead. Mercury's twins of all this (from sm_100 on)
 * are treated alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cubin/cubin.h"
#include "split/split.h"

/* Joins `count` chunk cubins, in chunk order, into *joined, which has views into them and is named
 * "lto.cubin". `symbols` are the chunk symbols (struct chunks). A single cubin is brought into the
 * same canonical order, but with `keeps_data` its variables in global and constant memory
 * stay where the assembler has put them: nvlink does not order them either (ptxas does by
 * alignment, then by size). Reports errors and returns false if two chunks define a symbol that is
 * not a replica. */
bool join_cubins(struct cubin *joined, const struct cubin *const *cubins, size_t count,
                 const struct chunk_symbol *symbols, size_t symbol_count, bool keeps_data);
