/* emit.h: the relocatable cubin of a chunk, in the form that ptxas gives it. */
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
    uint32_t builtin_note;
};

struct emission {
    struct unit *unit;
    struct emit_sections sections;
    struct image_symbol *symbols;
    size_t symbol_count;
};

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit. */
void emit_unit(struct unit *unit);

/* emit_symbols.c: the symbol table; sets the indices of globals and objects. */
void emit_symbols_build(struct emission *emission);

/* The symbol that stands for symbol `index` of a function's body in relocations. */
uint32_t emit_symbols_of_body(const struct emission *emission, const struct function_code *function,
                              uint32_t index);

/* emit_info.c: contents of .nv.info, .nv.compat and .nv.info.F, and of the three notes. */
void emit_info_chunk(const struct emission *emission, struct buffer *out);
void emit_info_compat(const struct emission *emission, struct buffer *out);
void emit_info_function(const struct emission *emission, const struct function_code *function,
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
