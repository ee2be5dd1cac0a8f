/* emit.h: the cubin of a chunk, in the form that ptxas gives it: relocatable, or a program. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "toy/unit.h"

/* Sections of which there is at most one; their indices. 0 = the chunk has none. */
struct emit_sections {
    uint32_t section_names;
    uint32_t strings;
    uint32_t symbols;
    uint32_t lines;            /* .debug_line */
    uint32_t line_relocations; /* of it */
    uint32_t tool_note;
    uint32_t cuda_note;
    uint32_t info;
    uint32_t compat;
    uint32_t callgraph;
    uint32_t prototype;
    uint32_t data[DATA_KINDS];
    uint32_t data_relocations[DATA_KINDS];
    uint32_t builtin_note;
};

struct emission {
    struct unit *unit;
    struct emit_sections sections;
    struct image_symbol *symbols;
    size_t symbol_count;
};

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit. NULL for an
 * executable, which the switches and the mode must ask for; else why it is relocatable. */
const char *emit_cubin(struct unit *unit);

/* program.c: makes unit->owners, unit->image and unit->cubin of the unit's functions and data as a
 * finished program, in which nothing calls across sections: each kernel with copies of what it
 * calls, its shared memory and its stack laid out. Returns NULL, or else why it cannot be a
 * finished one: that is for a linker to make. What a kernel becomes depends on the kernel, what it
 * reaches, and the variables of the module: on no other kernel. */
const char *program_emit(struct unit *unit);

/* emit.c: what both are made of. */

/* Begins unit->image and adds what every cubin begins with, up to .nv.callgraph, without contents;
 * ET_REL or ET_EXEC. */
void emit_head(struct emission *emission, uint16_t type);

/* The owners' sections of one kind, where they have any. */
void emit_owner_sections(struct emission *emission, enum owner_section kind);

/* Once symbols have their rows: the contents of these sections, and what they belong to. */
void emit_fill_owners(struct emission *emission);

/* The section of one kind of variables, and of its relocations, where there are any. */
void emit_data(struct emission *emission, enum data_kind kind);
void emit_data_relocations(struct emission *emission, enum data_kind kind);

/* Once symbols have their rows. */
void emit_fill_data_relocations(struct emission *emission, enum data_kind kind);

/* Moves the buffer's bytes into a section; the buffer is empty then. */
void emit_contents(struct emission *emission, uint32_t section, struct buffer *contents);

/* Makes the list, which lives as long as the image, the relocations of section `target`. */
void emit_relocations(struct emission *emission, uint32_t section, uint32_t target,
                      Elf64_Rela *list, size_t count);
Elf64_Rela emit_rela(uint64_t offset, uint64_t symbol, uint32_t type, int64_t addend);

/* Fills the three notes and .nv.compat. */
void emit_notes(struct emission *emission);

/* Fills .symtab, and .strtab with what unit->strings has and the symbols' names. */
void emit_symbol_table(struct emission *emission);

/* emit_symbols.c: the symbol table; sets the indices of globals and objects. */
void emit_symbols_build(struct emission *emission);

/* The same for a program, whose kernels are the owners. */
void emit_symbols_of_program(struct emission *emission);

/* The row of the symbol that stands for one of a function's body in relocations. */
uint32_t emit_symbols_of_body(const struct unit *unit, const struct body_symbol *symbol);

/* emit_info.c: contents of .nv.info, also of a program, .nv.compat and .nv.info.F, and of the three
 * notes. */
void emit_info_chunk(const struct emission *emission, struct buffer *out);
void emit_info_compat(const struct emission *emission, struct buffer *out);
void emit_info_owner(const struct unit *unit, const struct owner *owner, struct buffer *out);
void emit_info_program(const struct emission *emission, struct buffer *out);
void emit_info_tool_note(const struct unit *unit, struct buffer *out);
void emit_info_cuda_note(const struct unit *unit, struct buffer *out);
void emit_info_builtin_note(struct buffer *out);

/* emit_graph.c: contents of .nv.callgraph and .nv.prototype; adds prototype strings. */
void emit_graph_calls(struct emission *emission, struct buffer *out);
void emit_graph_prototypes(struct emission *emission, struct buffer *out);

/* True when some function needs a record in .nv.prototype. */
bool emit_graph_has_prototypes(const struct unit *unit);

/* emit_line.c: True when some function knows its lines. */
bool emit_line_is_needed(const struct unit *unit);

/* emit_line.c: contents of .debug_line, and its relocations, one for each function at most; returns
 * their number. */
size_t emit_line_units(const struct emission *emission, struct buffer *out,
                       Elf64_Rela *relocations);
