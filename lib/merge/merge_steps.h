/* merge_steps.h: the steps of a merge, in their order (merge.c), each with what it offers to
 * others. A step that can fail gives false, and has reported errors in nvlink's words, all that it
 * found.
 */
#pragma once

#include "merge/merging.h"

/* resolve.c: from the cubins' symbols to one symbol per name. */

/* Finds symbols, who defines each, aliases, the owners of sections, and the order in which symbols
 * will be written. False when definitions contradict each other. */
bool resolve_symbols(struct merging *m);

/* Reports every symbol that nothing defines and that the driver does not bring. Comes after
 * liveness: what only dead code needs is not missed. False when there is any. */
bool resolve_check_undefined(struct merging *m);

/* True for names that every cubin declares for the driver: unified tables, reserved shared memory.
 */
bool resolve_is_reserved(struct text name);

/* True for reserved names that an executable does not mention any more. */
bool resolve_is_unified_table(struct text name);

/* overridden.c: weak definitions that lost to an earlier cubin's, and what is left of them. */

/* Fills m->losses. Wants resolved symbols. */
void overridden_find(struct merging *m);

/* Whether a symbol is defined in this cubin, but an earlier one's definition counted then. */
static inline bool overridden_has(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count &&
           m->resolved.has_lost[m->symbol_base[file] + index];
}

/* Whether data of a cubin holds a symbol's address, other than in storage that overridden_forget.
 */
static inline bool overridden_points_at(const struct merging *m, size_t file, uint32_t index)
{
    return index < m->cubins[file]->symbol_count &&
           m->losses.is_pointed_at[m->symbol_base[file] + index];
}

/* Whether all variables in a section lost. */
static inline bool overridden_own(const struct merging *m, size_t file, size_t section)
{
    return m->losses.storage[m->section_base[file] + section] == STORAGE_LOSERS;
}

/* Whether symbol `index` of a cubin, which became `symbol`, is defined there, but a later cubin's
 * definition replaced it. */
bool overridden_replaced(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether there were relocations in the code of such a function. */
bool overridden_had_relocations(const struct merging *m, size_t file, uint32_t index);

/* Whether debug information empties the range of a function that goes: where it counted, or was
 * replaced by a later cubin's and had no relocations in its code; not where it lost before
 * (measured). */
bool overridden_empty(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether an address in initialised data is left out, which then holds what the cubin has there
 * (0): it stands in the storage of a variable that lost, in .nv.global.init, where nobody will see
 * it (measured on nvlink 13.0). In .nv.constant3 such addresses stay. */
bool overridden_forget(const struct merging *m, size_t file, uint32_t section, uint64_t offset);

/* graph.c: the call graph of the whole program. */

/* Reads .nv.callgraph and .nv.prototype of all cubins into m->graph. False when two cubins disagree
 * about a function's prototype. */
bool graph_read(struct merging *m);

/* Adds .nv.callgraph, and .nv.prototype unless it would be empty, to m->sections. */
void graph_add_sections(struct merging *m);

/* Writes their contents, and prototypes to m->strings. Comes after the symbols have their rows. */
void graph_encode(struct merging *m);

/* graph_print.c: the same as text. */

/* Writes the graph in the form that m->request asks for: nvlink's text (measured on 13.0), with or
 * without demangled names, or Graphviz. Functions have the order and numbers of the symbol table;
 * unlike nvlink's, the list has no empty lines for functions that are gone. Comes after the symbols
 * have their rows. */
void graph_print(const struct merging *m, struct buffer *out);

/* fold.c: --icf=safe: device functions that are the same become one. */

/* Makes functions that are the same in all that an executable has of them one: references to the
 * others mean the first, and what belongs to them is treated as that of a weak copy that lost.
 * Wants the call graph, which is out of date where it gives true: something was folded then. */
bool fold_functions(struct merging *m);

/* Whether symbol `index` of a cubin defines a function in whose place another one stands. */
static inline bool fold_has(const struct merging *m, size_t file, uint32_t index)
{
    return m->resolved.is_folded && m->resolved.is_folded[m->symbol_base[file] + index];
}

/* reach.c: what is alive, and what each function can reach. */

/* Fills m->is_live with the functions that stay: kernels, functions whose address is taken or
 * stands in data, and all that they need; under -g and -r, every function. */
void reach_mark_live(struct merging *m);

/* Fills m->reach: per node the largest register and barrier counts, the deepest stack and the flags
 * of everything that it can reach through direct and indirect calls. Own values come from
 * m->functions. Linear, recursion included. */
void reach_summarize(struct merging *m);

/* Finds the functions that `from` can reach, itself included, going only where m->reach has `flag`.
 * *found is valid until the next walk; prototypes among them are >= m->symbol_count. Returns how
 * many there are. Walks share m->walker: one at a time. */
size_t reach_walk(struct merging *m, uint32_t from, enum reach_flag flag, const uint32_t **found);

/* True when the stack that `kernel` needs has no bound, or none that fits its record. */
bool reach_is_unbounded(const struct merging *m, uint32_t kernel);

/* Finds a cycle that `from` can reach: *cycle are its nodes, each of which leads to the next and
 * the last to the first. Returns how many; 0 without REACHES_CYCLE. */
size_t reach_find_cycle(struct merging *m, uint32_t from, const uint32_t **cycle);

/* attributes.c: the records of .nv.info*: read, summed up over the call graph, written. */

/* Fills m->functions with the own values of every function. Comes after liveness. */
void attributes_gather(struct merging *m);

/* How many barriers the output says that a function uses: a kernel's with all that it reaches. */
uint32_t attributes_barriers(const struct merging *m, uint32_t function);

/* Adds the info sections to m->sections: .nv.info, then .nv.info.F, a cubin's kernels first. */
void attributes_add_sections(struct merging *m);

/* Writes their contents. Comes after the symbols have their rows. False when a record is for a
 * symbol that has none. */
bool attributes_encode(struct merging *m);

/* limits.c: what cubins that fit each other by their symbols must still agree on. */

/* A weak kernel's copies must have parameters of one size. Comes after the owners of sections are
 * known. False otherwise. */
bool limits_check_parameters(struct merging *m);

/* Functions say how many registers they need, and a kernel with a limit of them (.maxnreg,
 * .maxntid) may only reach functions that keep to it: the driver would launch it with fewer than
 * they use. Comes after reach_summarize. False otherwise. */
bool limits_check_registers(struct merging *m);

/* Warns of kernels whose stack cannot be determined, and names one recursion that is the reason.
 * Comes after layout. */
void limits_warn_stack(struct merging *m);

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

/* layout.c: which sections the output has, and where the inputs' contents go in them. */

/* Adds code, data and debug sections to m->sections, fills m->layout, and gives symbols their
 * section and value. False, and errors, for contents that do not fit or cannot be merged. */
bool layout_sections(struct merging *m);

/* Gives every section with bytes its contents: a view of the only input, or a copy of all. */
void layout_fill(struct merging *m);

/* The contents of a merged section as a copy that may be changed, in the image's arena or one that
 * becomes part of it. */
uint8_t *layout_writable(struct merging *m, uint32_t section, struct arena *arena);

/* Adds a section; its index. */
uint32_t layout_add(struct merging *m, const struct merged_section *section);

/* Adds one that the link makes itself, the program's or of a function, with what all of the class
 * have. */
uint32_t layout_make(struct merging *m, enum merged_class class);
uint32_t layout_make_of(struct merging *m, enum merged_class class, struct text name,
                        uint32_t function);

/* Adds info of a function: section `input` of the cubin that defines it. */
void layout_make_info(struct merging *m, enum merged_class class, uint32_t function,
                      uint32_t input);

/* Makes a copy of `contents` all that a section has. */
void layout_set(struct merging *m, struct merged_section *section, struct bytes contents);

/* By symbol: the merged section of what it has in a constant bank, or MERGE_NONE. */
uint32_t *layout_find_banks(struct merging *m, uint32_t bank);

/* shared.c: where shared variables lie in each kernel's window of shared memory. */

/* Reads from the relocations which functions use which shared variables, into m->shared and
 * m->functions. Comes after liveness. */
void shared_gather(struct merging *m);

/* Bytes of a kernel's section that are the driver's. */
uint64_t shared_reserved_bytes(const struct merging *m);

/* Places the shared variables, m->shared, and adds .nv.shared.K sections. False when a kernel needs
 * more than there is. */
bool shared_layout(struct merging *m);

/* Gives the variables in the memory that the driver reserves their places, behind what is the
 * driver's own; .nv.shared.reserved.0 and its Mercury twin get the size and alignment that they
 * need. Under -r a variable's value stays its alignment. Comes after layout_sections. False when
 * they need more than the driver reserves. */
bool shared_layout_reserved(struct merging *m);

/* A reserved variable's value in Mercury's symbol table: the place without what is the driver's
 * own. */
uint64_t shared_reserved_twin_value(const struct merging *m, uint32_t variable);

/* constants.c: constants that the compiler makes: numbers too long for an instruction, and the
 * tables of switch statements. ptxas puts those of function F into .nv.constant2.F, at offset 0 of
 * bank 2. */

#define CONSTANTS_BANK 2u

/* Notes in m->functions which functions have such constants. */
void constants_gather(struct merging *m);

/* Moves device functions' constants into the sections of the kernels that reach them, which are
 * made where they are missing, and gives their symbols new values. Does nothing with -r. False when
 * a kernel's grow beyond the bank. */
bool constants_layout(struct merging *m);

/* Copies what was moved; after layout_fill(). */
void constants_fill(struct merging *m);

/* texture.c: the words through which code finds the texture, sampler and surface references of the
 * program. */

/* Finds the references, and marks live functions whose code names one; comes before
 * reach_summarize. */
void texture_gather(struct merging *m);

/* Orders the words and makes room for them in the bank 0 of each kernel that reaches such a
 * function. layout_sections comes first. False when a kernel would have too many references. Does
 * nothing under -r. */
bool texture_layout(struct merging *m);

/* Tells how many references of each kind a kernel has words for. */
void texture_count(const struct merging *m, uint32_t kernel, struct kernel_report *report);

/* Adds the relocations of the words in the kernels that cubin `file` defines. Called for each cubin
 * in turn; *next is the number of kernels that have been seen. */
void texture_relocate(struct merging *m, size_t file, size_t *next);

/* relocations.c: the relocations that stay in the image, and the sections that list them; what
 * relocate.c, mercury_relocate.c and texture.c find in turn. */

/* Makes the list of a merged section's relocations: `type` SHT_REL, SHT_RELA or one of Mercury's.
 * Gives the list's merged section. */
uint32_t relocations_add_list(struct merging *m, struct text name, uint32_t type, uint64_t flags,
                              uint32_t target);

/* Puts a relocation into its list. */
void relocations_add(struct merging *m, const struct merged_relocation *relocation);

/* -preserve-relocs: the relocations that a link resolves are listed in its output too, in a section
 * .nv.resolvedrela.X for each section X that had some. Lists a relocation of merged section
 * `target` that was resolved, if that is asked for; its `list` need not be set. */
void relocations_add_resolved(struct merging *m, uint32_t target,
                              const struct merged_relocation *relocation);

/* Whether a section of debug information, also a twin, says nothing of a function's losing copy:
 * lines and frames of such are not told, other sections point to the winner instead (measured). */
bool relocations_forget_losers(struct text section);

/* The size of a kernel's parameters, which code in libcudadevrt asks for, is not known in functions
 * that many kernels call. */
bool relocations_is_unknown_size(const struct cubin_symbol *symbol);

/* Writes the contents of the lists. Comes after the symbols have their rows. False when a
 * relocation stays for a symbol that does not. */
bool relocations_write(struct merging *m);

/* relocate.c: relocations: resolved where the link decides the value, else kept for the driver. */

/* Writes resolved values into the sections' contents, and collects in m->relocations, with sections
 * for them, what stays. False for types that it cannot resolve. */
bool relocate_sections(struct merging *m);

/* mercury.c: the second form of the code that cubins carry from sm_100 on, for finalizers to other
 * targets: Mercury's twins of the sections (minilink-cubin(5) states the rules). They are merged
 * beside the first form, section by section and symbol by symbol, or, where that cannot be done
 * right, left out of the output, with a warning that says why. */

/* Decides whether the twins can be merged, and finds the function that each belongs to. Comes after
 * the symbols are resolved. */
void mercury_begin(struct merging *m);

/* Leaves the twins out from here on; says why, and which cubin is the reason. */
void mercury_leave_out(struct merging *m, size_t file, const char *why);

/* How an input section of Mercury's takes part in the layout; CLASS_COUNT: not there. */
enum merged_class mercury_class(const struct merging *m, const struct cubin_section *section);

/* The function of one of Mercury's sections: of the twin of its code, of what tells of that, or
 * applies to it; or MERGE_NONE. */
uint32_t mercury_owner(const struct merging *m, size_t file, const struct cubin_section *section);

/* Finds the twin of each merged section, and makes those that kernels need for constants. Comes
 * after constants_fill. */
void mercury_pair(struct merging *m);

/* Adds info sections and the symbol table. Comes after attributes_add_sections. */
void mercury_add_sections(struct merging *m);

/* Writes the numbers of code sections into the twins of the code. */
void mercury_encode(struct merging *m);

/* Writes the symbol table into the image, when all sections and .strtab's other names are there. */
void mercury_encode_symbols(struct merging *m);

/* mercury_relocate.c: the relocations of Mercury's twins. */

/* Resolves them, or collects them in m->relocations with sections of their own. Comes before the
 * other relocations. A relocation that cannot be treated leaves the twins out. */
void mercury_relocate(struct merging *m);

/* Adds empty lists where only the twin of a section has relocations (measured on nvlink 13.0).
 * Comes after relocate_sections. */
void mercury_add_lists(struct merging *m);

/* ordering.c: the order of the image's sections. */

/* The image's first sections: null, .shstrtab, .strtab, .symtab, and where there are more sections
 * than symbols can name by themselves .symtab_shndx. */
enum { ORDERING_SHSTRTAB = 1, ORDERING_STRTAB, ORDERING_SYMTAB, ORDERING_INDICES };

/* Fills m->classes and m->order, and gives every merged section its index in the image. */
void ordering_sections(struct merging *m);

/* Writes the functions with code to `functions`, which has room for one for each section, in the
 * order of the symbols: that of the code in an executable. Returns how many. */
size_t ordering_functions(struct merging *m, uint32_t *functions);

/* From sm_100 on the parameters of kernels are loaded by a segment of their own, behind everything
 * else, unless the link adds words for texture references to them; their symbols end the table. */
bool ordering_is_last(const struct merging *m, const struct merged_section *section);

/* Whether the image has .symtab_shndx. */
bool ordering_is_extended(const struct merging *m);

/* symtab.c: which symbols are written, in which order, and the table of them. */

/* Decides which symbols are written, and gives them and the section symbols their rows, m->rows.
 * Comes after the sections have their indices. */
void symtab_assign(struct merging *m);

/* Writes it; names go to m->strings. Touches nothing else. */
void symtab_encode(struct merging *m);

/* build.c: merged sections and tables become the image, which can be written. */

/* Begins m->image with its tables. */
void build_tables(struct merging *m);

/* Puts the names of the sections into m->strings and says where they are, and encodes the symbols,
 * whose names follow. Touches nothing else. */
void build_names(struct merging *m);

/* Adds the sections to m->image and lays it out. Comes last: all contents are there. */
void build_image(struct merging *m);

/* report.c: what -v, maps and reports tell of the merge, taken out of it before it is freed. */

/* Wants a merge that has its image. Texts are copied into the report's arena. */
void report_fill(struct merge_report *report, struct merging *m);

/* diagnostics.c: messages about symbols of cubins, in nvlink's words, and what helps to mend them.
 */

/* Reports the `count` symbols that nothing defines; each with who refers to it, and with what is
 * almost it, as long as there is diag_room(). */
void diagnostics_undefined(const struct merging *m, const uint32_t *symbols, size_t count);

/* Reports that cubin `here` defines again what `first` does. */
void diagnostics_again(const struct merging *m, struct text name, const char *here,
                       const char *first);

/* Notes behind it, where cubin `file` defines the same bytes by its symbol `input` as `symbol` has,
 * that it does, and under the first error what to do. */
void diagnostics_same(const struct merging *m, const struct merged_symbol *symbol, size_t file,
                      size_t input);

/* Reports that a function is a kernel for one of two cubins only. */
void diagnostics_kernel(const struct merging *m, struct text name, const char *here, bool is_kernel,
                        const char *first);

/* Notes where the limit of `kernel` and the registers of `callee`, which it reaches, come from. */
void diagnostics_registers(struct merging *m, uint32_t kernel, uint32_t callee);

/* Notes a recursion that kernel `kernel` can get into. */
void diagnostics_recursion(struct merging *m, uint32_t kernel);

/* Reports that cubin `here` has a function under another prototype than cubin `other`; `first` is
 * the one that nvlink names. */
void diagnostics_prototype(const struct merging *m, struct text name, const char *here,
                           const char *first, struct text prototype, const char *other,
                           struct text other_prototype);
