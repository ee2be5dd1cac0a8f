/* emit.h: makes the cubin of a chunk, in the same form as ptxas: relocatable, or an executable. */
#pragma once

#include "toy/unit.h"

/* Bank of the user's constants. */
#define USER_BANK 3u

/* emit.c */

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit, as a relocatable
 * cubin. */
void emit_relocatable(struct unit *unit);

/* The same of type ET_REL or ET_EXEC, for the owners that there are. */
void emit_image(struct unit *unit, uint16_t type);

/* program.c: makes unit->owners, unit->image and unit->cubin as a finished program, in which
 * nothing calls across sections: each kernel has copies of the functions that it calls, and its
 * shared memory and stack are laid out. Returns NULL, or the reason why only a linker can finish
 * the program. A kernel's result depends on the kernel, the functions that it reaches, and the
 * variables of the module, not on other kernels. */
const char *program_emit(struct unit *unit);

/* emit_symbols.c: unit->symbols, and the indices of globals, objects and parts. */
void emit_symbols(struct unit *unit);

/* The row of the symbol that represents a body's symbol in relocations. */
uint32_t emit_symbol_of(const struct unit *unit, const struct body_symbol *symbol);

/* Appends the contents of a section. */
typedef void emit_put(struct unit *unit, struct buffer *out);

/* emit_info.c: contents of .nv.info, .nv.compat and .nv.info.F, and of the three notes. */
emit_put emit_info, emit_info_compat;
emit_put emit_info_tool_note, emit_info_cuda_note, emit_info_builtin_note;
void emit_info_owner(const struct unit *unit, const struct owner *owner, struct buffer *out);

/* emit_graph.c: contents of .nv.callgraph and .nv.prototype; adds prototype strings. */
emit_put emit_graph_calls, emit_graph_prototypes;

/* A function or .callprototype as the short string that the linker compares, in the arena: "#ii"
 * for int (int). */
struct text signature_of(struct arena *arena, const struct ptx_function *function);

/* True if some function needs a record in .nv.prototype. */
bool emit_graph_has_prototypes(const struct unit *unit);

/* emit_line.c: contents of .debug_line. */
emit_put emit_line_units;
