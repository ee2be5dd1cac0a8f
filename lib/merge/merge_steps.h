/* merge_steps.h: the steps of a merge after those of resolve/, in order (merge.c), and the
 * functions that each offers to others. A step that fails has reported all errors that it found, in
 * nvlink's wording, and returns false.
 *
 * "After rows": once symtab_assign() has given the symbols their rows. */
#pragma once

#include "merge/placing.h"

/* notes.c: adds the sections of the records of the tools that made the image and of its target. */
void notes_add(struct merging *m);

/* mercury.c: Mercury twins of sections: the second form of the code in cubins from sm_100 on, for
 * finalizers to other targets (minilink-cubin(5) states the rules). They are merged like the first
 * form, section by section and symbol by symbol. If that is not possible, they are left out of the
 * output with a warning that says why. */

/* Decides whether the twins can be merged, and finds the function of each. */
void mercury_begin(struct merging *m);

/* Whether Mercury's tables lack a symbol that is written: a function of the driver that only the
 * target's instructions call, as nvlink's finalizer made them (textures on sm_107). */
static inline bool mercury_lacks(const struct merging *m, uint32_t symbol)
{
    return m->out->has_twins && m->out->is_plain_only && m->out->is_plain_only[symbol];
}

/* Leaves the twins out from here on, with a warning that says why and names the cubin. */
void mercury_leave_out(struct merging *m, size_t file, const char *why);

/* Finds the twin of each merged section, and adds those that kernels need for constants. Comes
 * after constants_fill(). */
void mercury_pair(struct merging *m);

/* Adds the twins of info sections, after these, and Mercury's symbol table. */
void mercury_add_sections(struct merging *m);

/* Writes the indices of code sections into the twins of the code. */
void mercury_encode(struct merging *m);

/* Writes Mercury's symbol table into the image. Comes after all sections and the other names in
 * .strtab. */
void mercury_encode_symbols(struct merging *m);

/* layout.c: the sections of the output, and the places of the inputs' contents in them. */

/* Adds code, data and debug sections to m->out->sections, fills m->out->layout, and gives symbols
 * their section and value. False, and errors, for contents that do not fit or cannot be merged. */
bool layout_sections(struct merging *m);

/* Gives every section with bytes its contents: a view of the only input, or a copy of all. */
void layout_fill(struct merging *m);

/* The contents of a merged section as a copy that may be changed. */
uint8_t *layout_writable(struct merging *m, uint32_t section);

/* The name of a function's section of this class; `bank` is that of constants. */
struct text layout_name(struct merging *m, enum section_class class, uint32_t bank,
                        uint32_t function);

/* Add a section that the link makes itself, of the program or of a function (MERGE_NONE: of none),
 * with the properties of its row or of its class, and return its index. */
uint32_t layout_make_row(struct merging *m, const struct section_facts *row, struct text name,
                         uint32_t function);
uint32_t layout_make(struct merging *m, enum section_class class, uint32_t function);

/* Adds an empty section of `kernel` like section `model` of a function that it reaches. */
uint32_t layout_make_like(struct merging *m, uint32_t model, uint32_t kernel);

/* Adds a function's info section, made from section `input` of the cubin that defines it. */
void layout_make_info(struct merging *m, enum section_class class, uint32_t function,
                      uint32_t input);

/* Which of a section's lists has this type. */
unsigned layout_list_of(uint32_t type);

/* The name of a section of relocations for a section of this name, without Mercury's part. */
struct text layout_list_name(struct merging *m, const struct section_facts *facts,
                             struct text target);

/* The list of relocations of merged section `target` of a type (SHT_REL, SHT_RELA, one of resolved
 * relocations or of Mercury's), which is added if it is new. Returns its index. */
uint32_t layout_list(struct merging *m, uint32_t target, uint32_t type, uint64_t flags);

/* Adds a relocation to its list. */
void layout_add_relocation(struct merging *m, const struct merged_relocation *relocation);

/* Replaces a section's contents by a copy of `contents`. */
void layout_set(struct merging *m, uint32_t section, struct bytes contents);

/* By symbol: the function's merged section of a constant bank, or MERGE_NONE. */
uint32_t *layout_find_banks(struct merging *m, uint32_t bank);

/* shared.c: places shared variables in each kernel's window of shared memory. */

/* Places the variables in the shared memory that the driver reserves, after the driver's own part,
 * and sets the size and alignment of .nv.shared.reserved.0 and its Mercury twin. Under -r a
 * variable's value remains its alignment. False if they need more than the driver reserves. */
bool shared_layout_reserved(struct merging *m);

/* Places the other shared variables (m->out->shared) and adds .nv.shared.K sections. False if a
 * kernel needs more shared memory than there is. */
bool shared_layout(struct merging *m);

/* Bytes of a kernel's section that are reserved for the driver. */
uint64_t shared_reserved_bytes(const struct merging *m);

/* A reserved variable's value in Mercury's symbol table: without the driver's own part. */
uint64_t shared_reserved_twin_value(const struct merging *m, uint32_t variable);

/* texture.c: the words in bank 0 that lead to texture, sampler and surface references. */

/* Orders the words and makes room for them in bank 0 of each kernel that reaches such a function;
 * not under -r. False if a kernel would have too many references. */
bool texture_layout(struct merging *m);

/* Whether a function is a kernel with the words. */
bool texture_has_words(const struct merging *m, uint32_t function);

/* Sets in the report the number of references of each kind for which a kernel has words. */
void texture_count(const struct merging *m, uint32_t kernel, struct kernel_report *report);

/* Adds the relocations of the words in the kernels that cubins before `end` define, unless they
 * have them already. */
void texture_relocate(struct merging *m, size_t end);

/* constants.c: compiler constants: numbers too long for an instruction, and tables of switch
 * statements. ptxas puts those of function F into .nv.constant2.F, at offset 0 of bank 2. */

/* Moves device functions' constants into the sections of the kernels that reach them, adding
 * missing sections, and sets new values for their symbols; not under -r. False if a kernel's
 * constants exceed the bank. */
bool constants_layout(struct merging *m);

/* Copies the moved constants, after layout_fill(). */
void constants_fill(struct merging *m);

/* debug_registers.c: from sm_100 on .nv_debug_info_reg_sass says nothing of functions that are not
 * in the output, and of later ones of the same name. Clears that, after layout_fill(). */
void debug_registers_clear(struct merging *m);

/* relocations.c: the relocations of the image, and their sections. */

/* Writes the values that the link decides into the sections' contents, and collects the relocations
 * that are kept, or listed as resolved for -preserve-relocs, in m->out->relocations, with sections
 * for them. False for types that it cannot resolve. Mercury's that cannot be handled are left out
 * with all twins, but not those of unknown types. */
bool relocations_make(struct merging *m);

/* Writes the contents of the lists, after rows. An error if a kept relocation names a symbol that
 * is not written. */
void relocations_write(struct merging *m);

/* attributes.c: the records of .nv.info*, summed up over the call graph. */

/* Whether the link recomputes a function's records from all that it reaches. */
static inline bool attributes_are_summed(const struct merging *m, uint32_t function)
{
    return merged_is_kernel(&m->symbols[function]) && !m->request->relocatable;
}

/* Number of barriers of a function in the output: for a kernel that of all that it reaches. */
uint32_t attributes_barriers(const struct merging *m, uint32_t function);

/* Whether a section of the program's records, of this kind, has any. Measured: if all functions are
 * dead there may be none left, and then no section. */
bool attributes_has_program_records(const struct merging *m, enum input_kind infos);

/* Adds the info sections: .nv.info, then .nv.info.F, a cubin's kernels first. */
void attributes_add_sections(struct merging *m);

/* Writes their contents, after rows. False if a record names a symbol without a row. */
bool attributes_encode(struct merging *m);

/* graph_encode.c: the call graph of the output. */

/* Adds .nv.callgraph, and .nv.prototype unless it would be empty. */
void graph_add_sections(struct merging *m);

/* Writes their contents, after rows. */
void graph_encode(struct merging *m);

/* graph_print.c: writes the call graph in the form that m->request asks for, after rows: nvlink's
 * text (measured), with or without demangled names, or Graphviz. Functions have the order and
 * numbers of the symbol table; unlike nvlink's, the list has no empty lines for removed functions.
 */
void graph_print(const struct merging *m, struct buffer *out);

/* names.c: the names in both string tables. */

/* The place of a name in a table, to which it is added if it is new; 0 for an empty one. */
uint32_t names_put(struct merging *m, enum name_table table, struct text name);

/* The places of a section's name in both. */
const uint32_t *names_put_both(struct merging *m, struct text name);
void names_cleanup(void *names);

/* creation.c: the order in which nvlink makes sections and their names. */

/* Finds it: m->out->created; and fills both string tables but for the names of global symbols.
 * Comes after all sections have been added. */
void creation_order(struct merging *m);

/* ordering.c: the order of the image's sections. */

/* The image's first sections: null, .shstrtab, .strtab, .symtab, and .symtab_shndx if section
 * indices do not fit into st_shndx. */
enum { ORDERING_SHSTRTAB = 1, ORDERING_STRTAB, ORDERING_SYMTAB, ORDERING_INDICES };

/* The row of one of them: those of sections.def have this order. */
static inline const struct section_facts *ordering_table(unsigned index)
{
    return sections_of_class(CLASS_TABLE) + (index - ORDERING_SHSTRTAB);
}

/* Fills m->out->classes and m->out->order, and gives every merged section its index in the image.
 */
void ordering_sections(struct merging *m);

/* Writes the functions with code to `functions`, which has room for one per section, in the order
 * of their symbols, which is the order of code in an executable. Returns their number. */
size_t ordering_functions(struct merging *m, uint32_t *functions);

/* Whether the section stands last: from sm_100 on kernels' parameters have a segment of their own
 * after everything else, unless the link adds words for texture references to that kernel's. Their
 * symbols end the table. */
bool ordering_is_last(const struct merging *m, const struct merged_section *section);

/* Whether the image has .symtab_shndx. */
bool ordering_is_extended(const struct merging *m);

/* symtab.c: the symbols that are written, their order, and the symbol table. */

/* Decides which symbols are written, and gives them and the section symbols their rows,
 * m->out->rows. Comes after the sections have their indices. */
void symtab_assign(struct merging *m);

/* Whether a symbol is written. */
bool symtab_writes(const struct merging *m, uint32_t symbol);

/* Whether what merged_local says of a cubin is shared memory outside kernels, which may have no
 * section in the image. */
bool symtab_names_debug_shared(const struct merging *m, size_t file, uint32_t index);

/* The merged section for a cubin's section symbol; of a function's losing copy, the winner's. */
uint32_t symtab_section_named(const struct merging *m, size_t file, uint32_t index);

/* Whether a symbol that other cubins may name becomes local. */
static inline bool symtab_makes_local(const struct merging *m, uint32_t symbol)
{
    return merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) &&
           m->symbols[symbol].file != MERGE_NONE && !m->request->relocatable &&
           toolkit_does(m->request->toolkit, TOOLKIT_MAKES_SHARED_LOCAL);
}

/* Writes the table, and names to .strtab. */
void symtab_encode(struct merging *m);

/* build.c: makes the image of merged sections and tables. */

/* Begins m->image with its tables. */
void build_tables(struct merging *m);

/* Adds the sections to m->image and lays it out. Comes last: all contents are there. */
void build_image(struct merging *m);

/* report.c: copies the data for -v, maps and reports into the report's arena, after the image is
 * built. */
void report_fill(struct merge_report *report, struct merging *m);
