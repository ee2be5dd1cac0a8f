/* emit.h: makes the cubin of a chunk, in the same form as ptxas: relocatable, or an executable. */
#pragma once

#include <elf.h>

#include "toy/unit.h"

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit, as a relocatable
 * cubin. */
void emit_relocatable(struct unit *unit);

/* program.c: makes unit->owners, unit->image and unit->cubin as a finished program, in which
 * nothing calls across sections: each kernel has copies of the functions that it calls, and its
 * shared memory and stack are laid out. Returns NULL, or the reason why only a linker can finish
 * the program. A kernel's result depends on the kernel, the functions that it reaches, and the
 * variables of the module, not on other kernels. */
const char *program_emit(struct unit *unit);

/* emit_sections.c: parts of both forms. */

/* Begins unit->image of type ET_REL or ET_EXEC and adds the first sections of every cubin, up to
 * .nv.callgraph, without contents. */
void emit_head(struct unit *unit, uint16_t type);

void emit_single(struct unit *unit, enum single_section which);

/* Adds the owners' sections of one kind. */
void emit_owner_sections(struct unit *unit, enum owner_section kind);

/* Fills these sections and sets their owners. Call once symbols have their rows. */
void emit_fill_owners(struct unit *unit);

/* Add the section of one kind of variables, and the section of its relocations, if there are any.
 */
void emit_data(struct unit *unit, enum data_kind kind);
void emit_data_relocations(struct unit *unit, enum data_kind kind);

/* Fills the relocations. Call once symbols have their rows. */
void emit_fill_data_relocations(struct unit *unit, enum data_kind kind);

/* Appends the contents of a section. */
typedef void emit_put(struct unit *unit, struct buffer *out);

/* Fills the section, if the chunk has it. */
void emit_fill(struct unit *unit, enum single_section which, emit_put *put);

/* Makes `list`, which must live as long as the image, the relocations of section `target`. */
void emit_relocations(struct unit *unit, uint32_t section, uint32_t target, Elf64_Rela *list,
                      size_t count);
Elf64_Rela emit_rela(uint64_t offset, uint64_t symbol, uint32_t type, int64_t addend);

/* Fills the three notes and .nv.compat. */
void emit_notes(struct unit *unit);

/* Fills .symtab, and .strtab with unit->strings and the symbols' names. */
void emit_symbol_table(struct unit *unit);

/* emit_symbols.c: the symbol table; sets the indices of globals and objects. */
void emit_symbols_build(struct unit *unit);

/* The same for a program, whose kernels are the owners. */
void emit_symbols_of_program(struct unit *unit);

/* The row of the symbol that represents a body's symbol in relocations. */
uint32_t emit_symbols_of_body(const struct unit *unit, const struct body_symbol *symbol);

/* emit_info.c: contents of .nv.info (of a chunk or a program), .nv.compat and .nv.info.F, and of
 * the three notes. */
emit_put emit_info_chunk, emit_info_program, emit_info_compat;
emit_put emit_info_tool_note, emit_info_cuda_note, emit_info_builtin_note;
void emit_info_owner(const struct unit *unit, const struct owner *owner, struct buffer *out);

/* emit_graph.c: contents of .nv.callgraph and .nv.prototype; adds prototype strings. */
emit_put emit_graph_calls, emit_graph_prototypes;

/* A function or .callprototype as the short string that the linker compares, in the arena: "#ii"
 * for int (int). */
struct text signature_of(struct arena *arena, const struct ptx_function *function);

/* True if some function needs a record in .nv.prototype. */
bool emit_graph_has_prototypes(const struct unit *unit);

/* emit_line.c: contents of .debug_line, and of its relocations. */
emit_put emit_line_units;
