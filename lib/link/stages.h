/* stages.h: the stages, in the order in which link.c runs them.
 *
 * Each stage reads the results of earlier ones (const, after stage_program.c and compile.c), makes
 * its own result, and reports its work under -vv and to link->observation. False after an error; it
 * has reported all of them. */
#pragma once

#include "link/state.h"

/* stage_program.c: from the inputs to one program */

/* Opens the inputs, after checking that no file read or written would be overwritten. */
bool stage_open(struct link *link);

/* Finds the members that take part, and the kernels that stay. */
bool stage_select(struct link *link);

/* Combines the members' options and the command line's into one set. */
bool stage_agree(struct link *link);

/* Reads the members that are cubins already, links the PTX of all others, and drops libcudadevrt
 * when nothing calls it. */
bool stage_link(struct link *link);

/* Frees the program and its PTX, and releases the inputs: the chunks are made. */
void stage_release(struct link *link);

/* compile.c: LTO-IR and LLVM bitcode become PTX */

/* Finds the libraries that compile the inputs' code, before members are selected. */
bool compile_find_libraries(struct link *link);

/* Whether the selected members can be compiled. */
bool compile_check(struct link *link);

/* Compiles the members with LTO-IR or bitcode, while ptxas starts if it is certain to be needed and
 * a CPU is free. */
bool compile_to_ptx(struct link *link, struct assembled *assembled);

/* The same with LTO-IR as result, for --emit-ltoir. A warning says which members are left out. */
bool compile_to_ltoir(struct link *link);

/* stage_split.c: from the program to its chunks */

/* Cuts the program into chunks. */
bool stage_split(const struct link *link, struct cut *cut, struct assembled *assembled);

/* exact_probe.c: whether what the assembler makes of chunks can be joined: found before any chunk
 * is assembled, so that a program that must be assembled in one piece is not assembled twice */

/* Why the program must be assembled in one piece, as far as options and target tell; NULL for no
 * reason. */
const char *exact_probe_options(const struct link *link);

/* Sets *obstacle to the same, as far as ptxas's version tells, or a small program that it is given,
 * in chunks and in one piece, or that is taken from the cache. False after an error. */
bool exact_probe_find(const struct link *link, struct assembled *assembled, const char **obstacle);

/* stage_assemble.c: from the chunks to their cubins, or to the program's */

/* Opens the assembler, unless it is open. */
bool stage_open_assembler(const struct link *link, struct assembler *assembler);

/* How these chunks are assembled. The dispatch path (minilink-internals(7), Dispatch paths) decides
 * the mode; assemble_chunks() finds the number of threads. */
struct assemble_request stage_assemble_request(const struct link *link, const struct cut *cut,
                                               struct assembled *assembled);

/* Whether the program has at most one function, so that there is nothing to share: it is then
 * assembled without the machinery for that. Under -vv the phases are run all the same. */
bool stage_is_single(const struct link *link, const struct chunks *chunks);

/* Assembles every chunk to a cubin. */
bool stage_assemble(const struct link *link, const struct cut *cut, struct assembled *assembled);

/* Joins the chunks' cubins of an exact split into the whole program's. If they do not fit together,
 * the program is cut and assembled again, in one piece, and an info says why. */
bool stage_join(const struct link *link, struct cut *cut, struct assembled *assembled);

/* The program's only cubin, which may have been joined from chunks' cubins; NULL when there are
 * several. */
const struct chunk_cubin *stage_program_cubin(const struct assembled *assembled);

/* Whether the only cubin is already the whole link's result. */
bool stage_is_finished(const struct link *link, const struct cut *cut,
                       const struct assembled *assembled);

/* stage_merge.c: from the cubins to one image */

/* Makes one image of all cubins. */
bool stage_merge(const struct link *link, const struct cut *cut, const struct assembled *assembled,
                 struct merged *merged);

/* link_cache.c: whole links in the cache: the same code and the same options give the same output
 * and the same messages, without linking a program
 *
 * The look-up happens when the participating code is final: the key has that code and not the files
 * that it came from, so an object in which only host code has changed has the same key. Only a
 * command line all of whose options are known, as relevant or not, has such a result
 * (cache_request.command). One that writes files other than the output and the lists that nvcc and
 * build systems request has none. */

/* True when the cache has the result: its messages have been printed, and link->cached has the data
 * for stage_write(). Else messages are recorded from here on, if the result will be stored. Opens
 * the assembler, which the result depends on, if code has to be assembled. */
bool link_cache_find(struct link *link, struct assembler *assembler);

/* Stores the result of a link whose output has been written. */
void link_cache_keep(struct link *link, const struct results *results);

/* reproduce.c: a tar file with everything that a link reads, to repeat it elsewhere
 *
 * NAME.tar has a folder NAME with the inputs; response.txt, with the options and the inputs' names
 * in that folder; and version.txt, with the versions of the linker and its tools. `minilink
 * @response.txt` in the folder repeats the link, like the same toolkit's nvlink. It is written as
 * soon as the inputs are open, so that later failures can be reproduced too. */

/* Writes the file that the request names; true without one. Files that the request's words name are
 * added to the tar and named by their place there; members of thin archives are added at their
 * places too. */
bool reproduce_write(const struct link *link);

/* dependencies.c: a rule for make with the files that the output depends on (also for ninja's
 * depfile)
 *
 * The form is that of GCC's -MD -MP, which make and ninja read: "output: \" and one file a line;
 * then a rule without a recipe for each file, so that a missing file is no error. */

/* Path of the file for this link's rule: --dependency-file's name, with each "%a" replaced by the
 * target's name. In `arena`; NULL when not requested. */
const char *dependencies_path(const struct link *link, struct arena *arena);

/* Appends the rule. The target is --dependency-target's, or else the output. The files are response
 * files, the index file, inputs (including those found for -l and the members of thin archives),
 * the assembler's program or plug-in, and libnvJitLink, each once. False, and a fatal diagnostic,
 * when make cannot read one of the names. */
bool dependencies_rule(const struct link *link, const struct assembler *assembler,
                       struct buffer *rule);

/* stage_write.c: the files */

/* Writes the requested output: the image, the list of modules, the times. */
bool stage_write(const struct link *link, const struct results *results);

/* Ends a link for a virtual target: writes only the list of modules. */
bool stage_end_virtual(const struct link *link, const struct results *results);

/* --emit-texts: writes the texts that take part. False, and an error, when some code has none. */
bool stage_end_texts(const struct link *link, const struct results *results);

/* Writes the LTO-IR, without --dry-run. */
bool stage_end_ltoir(const struct link *link, const struct results *results);

/* Ends a link that assembles nothing: under --dry-run, with a plan, or with the program's PTX as
 * output. */
bool stage_end_early(const struct link *link, const struct results *results);
