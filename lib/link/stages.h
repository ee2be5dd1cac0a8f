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

/* member_cubins.c: the members that are machine code
 *
 * nvcc names libcudadevrt on every command line. Measured on nvlink: the library's code takes part
 * when another input calls one of its functions, even from dead code, and always with
 * -keep-system-libraries. */

/* Fills link->member_cubins, and link->system_names for libcudadevrt. False, and errors, when a
 * cubin cannot be read. */
bool member_cubins_read(struct link *link);

/* Drops libcudadevrt when neither the linked PTX nor another cubin calls it. */
void member_cubins_drop_unused(struct link *link);

/* Puts the members' cubins and those made of the groups (`made_count` of them: one for each group,
 * or none) into `cubins`, in the order of the output, and returns their number. Measured on nvlink:
 * libcudadevrt's code is behind all others, wherever it was named. */
size_t member_cubins_order(const struct cubin **cubins, const struct link *link,
                           const struct cubin *made, size_t made_count);

/* Tells of cubins that nvlink of the toolkit that is followed refuses: what a newer toolkit made,
 * or an older one's ptxas -ewp. */
void member_cubins_tell_of_refused(const struct link *link);

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

/* Ends a link that assembles nothing: for a virtual target, of which only the list of modules is
 * written; with LTO-IR, the inputs' texts (an error when some code has none) or the program's PTX
 * as output; under --dry-run; or with a plan. */
bool stage_end_early(const struct link *link, const struct results *results);

/* overwrite_check.c: a link overwrites no file that it reads or writes */

/* False, reported, when a path of the request occurs twice, under whatever names and through
 * whatever links, and is written at least once. Written are -o, -register-link-binaries,
 * --dependency-file, --reproduce, --emit-plan, reports (-time, --time-trace, --report, --map), the
 * files that --keep makes, and the file that standard output leads to, if something is printed.
 * Read are the inputs, including libraries and members of thin archives, response files, -uidx's
 * file, the programs and libraries that options name, and this program. Files that are not regular,
 * like /dev/null, are ignored. */
bool overwrite_check(const struct link_request *request, const struct inputs *inputs);

/* The same for an output of the option whose name is known only now. */
bool overwrite_check_late(const char *option, const char *path, const struct link_request *request,
                          const struct inputs *inputs);

/* save_temps.c: --keep=DIR: intermediate results of the stages, as files for people and other tools
 *
 * Each function writes into the folder `directory`, makes it if it is missing, and does nothing
 * when `directory` is NULL. False, and a fatal diagnostic, when a file cannot be written. */

/* The PTX that libnvJitLink made of LTO-IR: lto.ptx; and if it was joined from several parts,
 * lto-0.ptx, lto-1.ptx, ... */
bool save_temps_lto(const char *directory, const struct lto_result *lto);

/* The PTX that libLLVM made of bitcode: bitcode.ptx, or bitcode-0.ptx, bitcode-1.ptx, ... */
bool save_temps_bitcode(const char *directory, const struct bitcode_result *bitcode);

/* The whole program as one module: linked.ptx, or linked-INDEX.ptx if there are several (SIZE_MAX:
 * there are not). */
bool save_temps_program(const char *directory, const struct program *program, size_t index,
                        struct arch arch);

/* chunk-0.ptx, chunk-1.ptx, ... */
bool save_temps_chunks(const char *directory, const struct chunks *chunks);

/* chunk-0.cubin, chunk-1.cubin, ... */
bool save_temps_cubins(const char *directory, const struct cubins *cubins);

/* True for names that such files have in the folder. */
bool save_temps_is_name(const char *name);

/* verbose.c: reports on a link: under -v in nvlink's own lines, and under -vv with a line for each
 * decision of minilink's. Prints nothing otherwise. */

/* The target, and every candidate with its role. */
void verbose_members(const struct members *members);

/* The state of each embedded option, and the values in force. */
void verbose_agreement(const struct agreement *agreement);

/* Phase I. */
void verbose_program(const struct program *program);

/* The chunks, and the reason why they are not assembled in parallel, or NULL. Prints nothing when
 * there are none. */
void verbose_chunks(const struct chunks *chunks, const char *sequential_reason);

/* Phase II: assembler, threads, time per chunk. */
void verbose_assembly(const struct cubins *cubins, struct assembler *assembler);

/* The hits and misses of the cache, on standard output. False when that cannot be written. */
bool verbose_cache(struct cache *cache);

/* The call graph: as text, where nvlink prints it, or for a drawing program, on standard output.
 * False when that cannot be written. */
bool verbose_callgraph(const struct merge_report *report, enum callgraph_form form);

/* What was removed, and, in the words and order of `nvlink -v`, memory and kernels: the last kernel
 * first; for a stack of unknown size (recursion) the kernel's own frame; for targets from sm_100
 * on, neither constants nor the driver's share of shared memory. */
void verbose_image(const struct merge_report *report, struct arch arch);
