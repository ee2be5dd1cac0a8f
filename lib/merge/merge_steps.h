/* merge_steps.h: the steps of a merge that are a function or two, in their order (merge.c). */
#pragma once

#include "merge/merging.h"

/* frames.c: from sm_100 on .debug_frame only describes functions that are in the output. */

/* The cubins of the merge, where needed as copies (in its arena) whose .debug_frame lacks what
 * describes functions that are dead or lost to an earlier cubin's; symbols and sections keep their
 * numbers. Comes after liveness. */
const struct cubin *const *frames_prune(struct merging *m);

/* notes.c: the records that say which tools made the image, and for which target. */

/* Adds .note.nv.tkinfo, .note.nv.cuinfo, .nv.compat and .note.minilink to m->sections, as far as
 * the inputs have them. */
void notes_add(struct merging *m);

/* The command line of the tool that made a cubin, as its note has it; empty without one. */
struct text notes_command(const struct merging *m, size_t file);

/* reserved.c: variables in the shared memory that the driver reserves. */

/* Gives the variables their places in the reserve, behind what is the driver's own;
 * .nv.shared.reserved.0 and its Mercury twin get the size and alignment that they need. Under -r a
 * variable's value stays its alignment. Comes after layout_sections. False, and an error, when they
 * need more than the driver reserves. */
bool reserved_layout(struct merging *m);

/* A variable's value in Mercury's symbol table: the place without what is the driver's own. */
uint64_t reserved_twin_value(const struct merging *m, uint32_t variable);

/* relocate.c: relocations: resolved where the link decides the value, else kept for the driver. */

/* Writes resolved values into the sections' contents, and collects in m->relocations, with sections
 * for them, what stays. False, and errors, for types that it cannot resolve. */
bool relocate_sections(struct merging *m);

/* mercury_relocate.c: the relocations of Mercury's twins. */

/* Resolves them, or collects them in m->relocations with sections of their own. Comes after the
 * other relocations. A relocation that cannot be treated leaves the twins out. */
void mercury_relocate(struct merging *m);

/* Adds empty lists where only the twin of a section has relocations (measured on nvlink 13.0).
 * Comes after relocate_sections. */
void mercury_add_lists(struct merging *m);

/* attributes.c: the records of .nv.info*: read, summed up over the call graph, written. */

/* Fills m->functions with the own values of every function. Comes after liveness. */
struct merged_function *attributes_gather(struct merging *m);

/* How many barriers the output says that a function uses: a kernel's with all that it reaches. */
uint32_t attributes_barriers(const struct merging *m, uint32_t function);

/* Adds the info sections to m->sections: .nv.info, then .nv.info.F, a cubin's kernels first. */
void attributes_add_sections(struct merging *m);

/* Writes their contents. Comes after the symbols have their rows. False, and errors, when a record
 * is for a symbol that has none. */
bool attributes_encode(struct merging *m);

/* graph_write.c: the call graph of the whole program, for those who read the image. */

/* Adds .nv.callgraph, and .nv.prototype unless it would be empty, to m->sections. */
void graph_write_add_sections(struct merging *m);

/* Writes their contents, and prototypes to m->strings. Comes after the symbols have their rows. */
void graph_write_encode(struct merging *m);

/* mercury_write.c: what the image has for Mercury's sake beside the twins (mercury.h). */

/* Adds info sections and the symbol table. Comes after attributes_add_sections. */
void mercury_write_add_sections(struct merging *m);

/* Writes the numbers of code sections into the twins of the code. */
void mercury_write_encode(struct merging *m);

/* Writes the symbol table into the image, when all sections and .strtab's other names are there. */
void mercury_write_encode_symbols(struct merging *m);

/* The image's section whose bytes are the twin's too, or 0 (measured: they stand in the file once).
 */
uint32_t mercury_write_shared(const struct merging *m, const struct merged_section *section);

/* sh_info and sh_link of a twin. */
uint32_t mercury_write_info(const struct merging *m, const struct merged_section *section);
uint32_t mercury_write_link(const struct merging *m, const struct merged_section *section);

/* relocations_write.c: the relocations that stay, as sections of the image (relocations.h). */

/* Writes the contents of the lists. Comes after the symbols have their rows. False, and an error,
 * when a relocation stays for a symbol that does not. */
bool relocations_write(struct merging *m);

/* limits.c: what cubins that fit each other by their symbols must still agree on. */

/* A weak kernel's copies must have parameters of one size. Comes after the owners of sections are
 * known. False, and errors in nvlink's words, otherwise. */
bool limits_check_parameters(struct merging *m);

/* Functions say how many registers they need, and a kernel with a limit of them (.maxnreg,
 * .maxntid) may only reach functions that keep to it: the driver would launch it with fewer than
 * they use. Comes after reach_summarize. False, and errors, otherwise. */
bool limits_check_registers(struct merging *m);

/* Warns of kernels whose stack cannot be determined, in nvlink's words, and names one recursion
 * that is the reason. Comes after layout. */
void limits_warn_stack(struct merging *m);

/* build.c: merged sections and tables become the image, which can be written. */

/* Begins m->image with its tables. */
void build_tables(struct merging *m);

/* Puts the names of the sections into m->strings and says where they are, and encodes the symbols,
 * whose names follow. Touches nothing else. */
void build_names(struct merging *m);

/* Adds the sections to m->image and lays it out. Comes last: all contents are there. */
void build_image(struct merging *m);

/* report.c: what -v tells of the merge, taken out of it before it is freed. */

/* Wants a merge that has its image. Texts are copied into the report's arena. */
void report_fill(struct merge_report *report, struct merging *m);

/* report_places.c: where everything went, for maps and reports of the link. */

/* Fills report->places; `kernel_of` has by symbol the number in report->kernels of each function
 * with code. */
void report_places_fill(struct merge_report *report, struct merging *m, const uint32_t *kernel_of);
