/* compile.h: compiles one function's text to code, and collects the data about it that the
 * container needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/context.h"
#include "diag/diag.h"
#include "ptx/module.h"
#include "toy/encode.h"
#include "language/body.h"

/* The source line of the code from `address` on. */
struct code_line {
    uint32_t address; /* in the function */
    uint32_t file;    /* number of a .file directive */
    uint32_t line;
};

/* A function that has been assembled. */
struct function_code {
    const struct ptx_item *item;
    struct arena arena;        /* its results */
    uint32_t global;           /* index in the scope */
    struct diag_sink messages; /* kernels.c: until it is the function's turn */
    enum link_code outcome;
    struct body_symbol *symbols; /* the body's symbols */
    size_t symbol_count;
    struct bytes code;
    struct code_relocation *relocations; /* by ascending offset */
    size_t relocation_count;
    uint32_t *exits; /* offsets of the instructions that end it */
    size_t exit_count;
    struct code_line *lines; /* by ascending address; only with line information */
    size_t line_count;
    struct text *signatures; /* of its indirect calls, each once */
    size_t signature_count;
    uint32_t register_count;
    uint32_t register_limit;
    uint32_t barrier_count;
    uint32_t parameter_bytes; /* of a kernel, without the bytes before them in the bank */
    uint32_t frame_bytes;     /* of local memory */
    uint32_t spill_bytes;
    bool uses_textures;
    bool calls_indirectly;
    bool has_double_mma;       /* mma .f64 */
    uint64_t shared_bytes;     /* kernels: of the body's own .shared variables */
    uint32_t shared_alignment; /* the largest of them */
    uint32_t constant_symbol;  /* the symbol of the section of its parameters; 0 = none */
};

struct unit;

/* Assembles the function, which has `item` and `global` set: parse, allocate, lay out, encode. The
 * unit is only read. On failure, reports errors and returns false. */
bool compile_function(const struct unit *unit, struct function_code *function);
