/* join.h: joins the cubins of one program's chunks: relocatable ones into one relocatable cubin,
 * and those of whole programs into the program's. */
#pragma once

#include <stdbool.h>

#include "cubin/cubin.h"
#include "split/split.h"

/* Relocatable cubins. The result is what the assembler would have made of the unsplit program:
 * functions, variables and their sections stand in program order, identical replicas are folded
 * into one, promoted symbols get their own names and bindings back, and undefined references
 * between chunks are bound to their definitions. Its bytes therefore do not depend on the number of
 * chunks (with an assembler whose code for a function does not depend on its chunk, as the built-in
 * one).
 *
 * Copies of a local function that are not identical remain separate local functions of one name.
 * Objects that the splitter does not list (static variables of a function body, the assembler's
 * own) follow the listed ones, in the order of the first functions that refer to them, aligned to
 * 16 bytes or to the alignment of their place in the chunk if that is larger. A data section with
 * bytes outside of its objects, and all debug information but .debug_frame and units of
 * .debug_line, is concatenated in chunk order instead. Mercury's twins of all this (from sm_100
 * on) are treated alike.
 *
 * Joins `count` chunk cubins, in chunk order, into *joined, which has views into them and is named
 * "lto.cubin". `symbols` are the chunk symbols (struct chunks). A single cubin is brought into the
 * same canonical order, but with `keeps_data` its variables in global and constant memory stay
 * where the assembler has put them: nvlink does not order them either (ptxas does by alignment,
 * then by size). False, and errors, if two chunks define a symbol that is no replica. */
bool join_cubins(struct cubin *joined, const struct cubin *const *cubins, size_t count,
                 const struct chunk_symbol *symbols, size_t symbol_count, bool keeps_data);

/* Whole programs. Joins the cubins of a program's chunks, each assembled as a whole program with
 * all variables and its share of the kernels, into the cubin that the assembler makes of the
 * unsplit program, byte for byte.
 *
 * In whole-program mode a kernel's section also holds the functions that it calls, and only offsets
 * in constant banks depend on the rest of the program. Joining therefore links nothing; it merges
 * lists, whose order in the whole program follows from that in each chunk: minilink-internals(7),
 * Joining whole programs, has the rules. Chunks that do not follow them are not joined, so that the
 * program can be assembled in one piece. This includes descriptions of types and variables (-g),
 * which are one table over all functions.
 *
 * The caller must ensure what the join cannot see: kernels that may call through pointers must be
 * in one chunk with all functions whose address is taken, and a chunk's kernels must call the
 * driver's functions through the table of the whole program: the kernels in `left_out` were added
 * at the end of each chunk's text for that, and are not part of the program. */

struct exact_join_request {
    const struct bytes *chunks; /* cubins, untrusted */
    size_t count;
    const struct text *kernels; /* all of the program's, in the order of its text */
    size_t kernel_count;
    const struct text *left_out;
    size_t left_out_count;
    size_t line_count; /* with -lineinfo: number of lines at the start of each chunk's text, each
                          the program's or empty; 0 = there must be no line tables */
};

/* Less than, equal to or greater than 0: this toolkit (135: CUDA 13.5) is older than those whose
 * ptxas's form of whole programs was measured, one of them, or newer. */
int exact_join_compare(unsigned version);

/* Where and why chunks were not joined. The name points into a chunk's cubin; `what` is a static
 * clause that follows the section's name in a message. */
struct exact_join_difference {
    size_t chunk;
    struct text section; /* empty: the whole chunk */
    const char *what;
};

/* Appends the whole program's cubin to `image`. A single chunk with nothing to leave out is copied.
 * False when chunks disagree on shared contents, one is damaged, or something depends on the whole
 * program in an unknown way: then sets *why, and leaves `image` unchanged. Reports nothing. Raises
 * LINK_NO_MEMORY. Takes time and memory in proportion to the chunks' sizes. */
bool exact_join(struct buffer *image, const struct exact_join_request *request,
                struct exact_join_difference *why);

/* Whether a join of this one chunk makes its own bytes: else they are in a form that is not known.
 * `kernels`: the chunk's, in the order of its text. Reports nothing; raises LINK_NO_MEMORY. */
bool exact_join_remakes(struct bytes cubin, const struct text *kernels, size_t count,
                        size_t line_count);
