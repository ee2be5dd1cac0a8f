/* internal.h: the stages, in the order in which link.c runs them, and the rest of the room.
 *
 * A stage reads the results of earlier ones, makes its own, and reports its work under -vv and to
 * link->observation. False after an error; all errors have been reported. */
#pragma once

#include "base/memory.h"
#include "link/state.h"

/* stage_program.c: from the inputs to one program */

/* Opens the inputs, after checking that no file read or written would be overwritten. */
bool stage_open(struct link *link);

/* Finds the members that take part, and the kernels that stay. */
bool stage_select(struct link *link);

/* Combines the members' options and the command line's into one set. */
bool stage_agree(struct link *link);

/* Reads members that are cubins, links the PTX of all others, and drops libcudadevrt if it can. */
bool stage_link(struct link *link);

/* Frees the program and its PTX, and releases the inputs: the chunks are made. */
void stage_release(struct link *link);

/* groups.c: which members' PTX is linked into one program, by the options of its assembly
 *
 * Measured on nvlink 13.0 and 13.5: each PTX member is assembled apart, with the options stored in
 * it (options/consensus.h), and merged at its place among the inputs; what LTO makes is merged
 * where the toolkit's nvlink does (MERGES_LTO_FIRST in facts/behaviours.def), and is assembled with
 * the limit on registers that its own options agree on. Members with the same options give the same
 * code in one program, which is nearly every link. In others, a group is a run of neighbours: of
 * weak definitions the first may count, so that the order of the merge must be the inputs'. */

/* Fills link->groups, once members have been selected; empty when nothing is to be assembled. */
void groups_make(struct link *link);

/* Whether the member's PTX, or what its code becomes, is in the group. */
bool groups_have(const struct group *group, const struct member *members, size_t index);

/* Whether a word of -Xptxas, or of the options of some group, contains `part`. */
bool groups_tell_assembler(const struct link *link, const char *part);

/* The words of all groups and of -Xptxas, in `arena`; end with NULL. */
const char *const *groups_all_words(const struct link *link, struct arena *arena);

/* The names of those members. */
struct name_list groups_names(const struct link *link, const struct group *group);

/* -vv: the groups and their options. */
void groups_tell(const struct link *link);

/* member_cubins.c: the members that are machine code
 *
 * nvcc names libcudadevrt on every command line. Measured on nvlink: its code takes part when
 * another input calls a function of it, even from dead code, and with -keep-system-libraries. */

/* Fills link->cubins, and link->system_names for libcudadevrt. */
bool member_cubins_read(struct link *link);

/* Drops libcudadevrt when neither the linked PTX nor another cubin calls it. */
void member_cubins_drop_unused(struct link *link);

/* Puts the members' cubins and those made of the groups (`made_count` of them: one for each group,
 * or none) into `cubins`, in the order of the output, and returns their number. Measured on nvlink:
 * libcudadevrt's code is behind all others, wherever it was named. */
size_t member_cubins_order(const struct cubin **cubins, const struct link *link,
                           const struct cubin *made, size_t made_count);

/* Tells of cubins that the toolkit's nvlink refuses: a newer one's, or an older ptxas -ewp's. */
void member_cubins_tell_of_refused(const struct link *link);

/* compile.c: LTO-IR and LLVM bitcode become PTX */

/* Finds the libraries that compile the inputs' code, before members are selected. */
bool compile_find_libraries(struct link *link);

/* Whether the selected members can be compiled. */
bool compile_check(struct link *link);

/* Compiles LTO-IR and bitcode, while ptxas starts if it is sure to be needed and a CPU is free. */
bool compile_to_ptx(struct link *link);

/* The same with LTO-IR as result, for --emit-ltoir. A warning says which members are left out. */
bool compile_to_ltoir(struct link *link);

/* stage_split.c: from the program to its chunks */

bool stage_split(struct link *link);

/* joined_program.c: joins the chunks of an exact split to one program
 *
 * Each chunk's cubin is a whole program with a share of the kernels; joined, they are what the
 * assembler would have made of all kernels. The parts that they share must be the same in all of
 * them, which is checked; if they are not, the program is assembled in one piece. The first that
 * ends is tried alone, so that this costs little. */

/* Joins `cubins`, those of `chunks`, into the program's, in `image`. False when they do not fit
 * together; *why then says how ("chunk 2 has another .nv.constant3"), in `arena`. */
bool joined_program_make(struct buffer *image, const struct chunks *chunks,
                         const struct cubins *cubins, struct arena *arena, const char **why);

/* Whether the cubin of one of `chunks` is written in a form that can be joined; true where there is
 * no memory to tell. A pool's task may call it. */
bool joined_program_knows(const void *chunks, struct bytes cubin);

/* --verify-split: compares the program made of chunks with `whole`, which the assembler made of all
 * kernels at once. The error names the first section that differs. */
bool joined_program_verify(struct bytes program, struct bytes whole);

/* stage_assemble.c: from the chunks to their cubins, or to the program's */

/* Opens the assembler, unless it is open. */
bool stage_open_assembler(struct link *link);

/* How these chunks are assembled. The dispatch path (minilink-internals(7), Dispatch paths) decides
 * the mode; assemble_chunks() finds the number of threads. */
struct assemble_request stage_assemble_request(struct link *link, const struct chunks *chunks);

/* Assembles every chunk to a cubin. */
bool stage_assemble(struct link *link);

/* Joins the chunks' cubins of an exact split into the whole program's. If they do not fit together,
 * the program is cut and assembled again, in one piece, and an info says why. */
bool stage_join(struct link *link);

/* The program's only cubin, which may have been joined from chunks'; NULL = there are several. */
const struct chunk_cubin *stage_program_cubin(const struct link *link);

/* Whether the only cubin is already the whole link's result. */
bool stage_is_finished(const struct link *link);

/* stage_merge.c: from the cubins to one image, unless an assembler made it of a whole program
 *
 * Measured on nvlink: under -lto, when nothing but LTO-IR is linked and the link is not split, the
 * output is byte for byte what ptxas writes for the program without -c: an executable, in which
 * each kernel has its own copies of the functions it calls. The same is done here; only names that
 * linking the PTX had to change are restored. */

bool stage_merge(struct link *link);

/* whole_program.c */

/* True for an executable cubin, by its ELF header. */
bool whole_program_is(struct bytes data);

/* Whether it has the requested ABI. */
bool whole_program_has_abi(struct bytes data, enum merge_abi wanted);

/* Takes the executable in data[0..size), of the chunk with the name `name`: checks it, restores its
 * symbols' names from chunks->symbols, in place, and fills in `report` (NULL = not wanted). */
bool whole_program_take(void *data, size_t size, const char *name, const struct chunks *chunks,
                        struct merge_report *report);

/* reproduce.c: a tar file with everything that a link reads, to repeat it elsewhere
 *
 * NAME.tar has a folder NAME with the inputs; response.txt, with the options and the inputs' names
 * in that folder; and version.txt, with the versions of the linker and its tools. `minilink
 * @response.txt` in the folder repeats the link, like the same toolkit's nvlink. It is written as
 * soon as the inputs are open, so that later failures can be reproduced too. */

/* Writes the file, if requested, with files that the request's words name, and thin archives'. */
bool reproduce_write(const struct link *link);

/* dependencies.c: a rule for make, or ninja, with the files that the output depends on
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
bool dependencies_rule(const struct link *link, struct buffer *rule);

/* stage_write.c: the files */

/* Writes the requested output: the image, the list of modules, the times. */
bool stage_write(const struct link *link);

/* Ends a link that assembles nothing: for a virtual target, of which only the list of modules is
 * written; with LTO-IR, the inputs' texts (an error when some code has none) or the program's PTX
 * as output; under --dry-run; or with a plan. */
bool stage_end_early(const struct link *link);

/* False, reported, when an option would write to a file that the link reads, or that another option
 * writes, under whatever names and through whatever links. What is read includes libraries, members
 * of thin archives, the programs and libraries that options name, and this program. Files that are
 * not regular, like /dev/null, are ignored. `dependencies`: the path of --dependency-file, as far
 * as it is known; called again when it is. */
bool overwrite_check(const struct link_request *request, const struct inputs *inputs,
                     const char *dependencies);

/* --keep=DIR: intermediate results of the stages, as files for people and other
 * tools: the PTX that libnvJitLink made, lto.ptx, and if it was joined from parts lto-0.ptx, ...;
 * that of libLLVM, bitcode.ptx or bitcode-0.ptx, ...; the program as one module, linked.ptx, or
 * linked-0.ptx, ... if there are several; chunk-0.ptx, ... and chunk-0.cubin, ...
 *
 * Writes STEM.SUFFIX, or STEM-INDEX.SUFFIX (SIZE_MAX = none), into the folder, if one is requested,
 * and makes that. False, reported, when the file cannot be written. */
bool save_temps(const struct link *link, const char *stem, size_t index, const char *suffix,
                struct bytes bytes);
