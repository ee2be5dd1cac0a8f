/* emit.h: the cubin of a chunk, in the form that ptxas gives it: relocatable, or a program. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "toy/program.h"
#include "toy/unit.h"

#define EMIT_TEXT_ALIGNMENT 128u

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

/* A kernel's sections in a program; 0 = it has none. */
struct emit_kernel {
    uint32_t info;
    uint32_t relocations; /* of its text */
    uint32_t text;
    uint32_t shared;
    uint32_t constant;
};

struct emission {
    struct unit *unit;
    struct emit_sections sections;
    struct image_symbol *symbols;
    size_t symbol_count;
};

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit. */
void emit_unit(struct unit *unit);

/* emit_program.c: the same for a program: an executable, in which each kernel's section holds what
 * it calls. */
void emit_program(struct unit *unit, struct program *program);

/* emit.c: what both are made of. */

/* Begins unit->image and adds what every cubin begins with, without contents; ET_REL or ET_EXEC. */
void emit_head(struct emission *emission, uint16_t type);

/* Adds a section called `name` with `suffix` behind it, and returns its index. */
uint32_t emit_section(struct emission *emission, const char *name, struct text suffix,
                      struct image_section section);

/* The same with the function's name behind `prefix`. */
uint32_t emit_function_section(struct emission *emission, const char *prefix,
                               const struct function_code *function, uint32_t type, uint64_t flags,
                               uint64_t alignment);

void emit_callgraph_section(struct emission *emission);

/* The type of a section of data: `type` in a relocatable file, one of ELF's own in a program. */
uint32_t emit_type(const struct emission *emission, uint32_t type, bool has_no_bytes);

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

/* The same for a program. `kernels` are the sections of its kernels, beside program->kernels. */
void emit_symbols_of_program(struct emission *emission, struct program *program,
                             const struct emit_kernel *kernels);

/* The symbol that stands for symbol `index` of a function's body in relocations. */
uint32_t emit_symbols_of_body(const struct emission *emission, const struct function_code *function,
                              uint32_t index);

/* emit_info.c: contents of .nv.info, .nv.compat and .nv.info.F, the same of a program and its
 * kernels, and of the three notes. */
void emit_info_chunk(const struct emission *emission, struct buffer *out);
void emit_info_compat(const struct emission *emission, struct buffer *out);
void emit_info_function(const struct emission *emission, const struct function_code *function,
                        struct buffer *out);
void emit_info_kernel(const struct emission *emission, const struct program_kernel *kernel,
                      struct buffer *out);
void emit_info_program(const struct emission *emission, const struct program *program,
                       struct buffer *out);
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
