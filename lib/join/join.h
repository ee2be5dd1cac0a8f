/* join.h: the cubins of one program's chunks become one relocatable cubin again.
 *
 * The result is what the assembler would have given for the unsplit program: functions, variables
 * and their sections stand in program order, replicas that came out identical are folded into one,
 * promoted symbols have their own names and bindings back, undefined references between chunks are
 * bound to their definitions. Its bytes therefore do not depend on the number of chunks (with an
 * assembler whose code for a function does not depend on its chunk, as the built-in one).
 *
 * Copies of a local function that are not identical stay apart, as local functions of one name.
 * Objects that the splitter does not list (static variables of a function body, the assembler's
 * own) stand behind the listed ones, in the order of the first functions that refer to them, at 16
 * bytes' alignment or what their place shows if that is more. A data section with bytes outside of
 * its objects, and all debug information but .debug_frame and units of .debug_line, is concatenated
 * in chunk order instead. Mercury's twins of all this (from sm_100 on) go the same ways. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cubin/cubin.h"
#include "split/split.h"

/* Joins `count` chunk cubins, in chunk order, into *joined, which has views into them and is named
 * "lto.cubin". `symbols` are those of the chunks (struct chunks). One cubin is brought into the
 * same canonical order. False, and errors, when two chunks define a symbol that is no replica. */
bool join_cubins(struct cubin *joined, const struct cubin *const *cubins, size_t count,
                 const struct chunk_symbol *symbols, size_t symbol_count);
