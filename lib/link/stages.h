/* stages.h: the stages, in the order in which link.c runs them.
 *
 * Each reads what those before it made (const, behind front.c and compile.c), makes its own result,
 * tells of it under -vv and to link->observation. False when something was wrong, all of which it
 * has reported.
 */
#pragma once

#include "link/state.h"

/* front.c: from the inputs to one program */

/* Opens the inputs, once it is known that nothing read or written would be overwritten. */
bool front_open(struct link *link);

/* Finds the members that take part, and which kernels stay. */
bool front_select(struct link *link);

/* Brings the members' options and the command line's to one set. */
bool front_agree(struct link *link);

/* Reads the members that are cubins already, links the PTX of all others, and drops libcudadevrt
 * when nothing calls it. */
bool front_link(struct link *link);

/* Frees the program and its PTX, and lets go of the inputs: the chunks are made. */
void front_release(struct link *link);

/* compile.c: LTO-IR and LLVM bitcode become PTX */

/* Finds the libraries that compile what the inputs have, before members are selected. */
bool compile_find_libraries(struct link *link);

/* Whether what was selected can be compiled. */
bool compile_check(struct link *link);

/* Compiles the members with LTO-IR or bitcode. */
bool compile_to_ptx(struct link *link);

/* middle.c: from the program to its cubins */

/* Starts ptxas while LTO-IR is compiled, where it is certain to be wanted and nobody else has a
 * claim to the CPU. */
void middle_start_ahead(const struct link *link, struct assembled *assembled);

/* Cuts the program into chunks. */
bool middle_split(const struct link *link, struct cut *cut, struct assembled *assembled);

/* Whether the program has one function at most, so that there is nothing to share out: it is
 * assembled without the machinery for that. Under -vv the phases are gone through all the same. */
bool middle_is_single(const struct link *link, const struct chunks *chunks);

/* Makes a cubin of every chunk. */
bool middle_assemble(const struct link *link, const struct cut *cut, struct assembled *assembled);

/* --fit-registers: assembles the chunks again, their functions with so many registers at most. */
bool middle_fit(const struct link *link, const struct cut *cut, struct assembled *assembled,
                uint32_t registers);

/* Joins the chunks' cubins of an exact split to the whole program's. Where they do not fit together
 * the program is cut and assembled anew, in one piece, with an info that says why. */
bool middle_join(const struct link *link, struct cut *cut, struct assembled *assembled);

/* The program's only cubin, be it that chunks' cubins were joined to it; NULL when there are
 * several. */
const struct chunk_cubin *middle_program(const struct assembled *assembled);

/* Whether the only cubin is the whole link's result already. */
bool middle_is_finished(const struct link *link, const struct cut *cut,
                        const struct assembled *assembled);

/* back.c: from the cubins to the files */

/* Makes one image of all cubins. */
bool back_merge(const struct link *link, const struct cut *cut, const struct assembled *assembled,
                struct merged *merged);

/* Writes what the user asked for: the image, the list of modules, the times. */
bool back_write(const struct link *link, const struct results *results);

/* Ends a link for a virtual target: writes the list of modules alone. */
bool back_end_virtual(const struct link *link, const struct results *results);

/* Ends a link that assembles nothing: under --dry-run, with a plan, or with the program's PTX as
 * output. */
bool back_end_early(const struct link *link, const struct results *results);
