/* compile.h: one function's text to code, and what the container has to say about it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/table.h"
#include "ptx/module.h"
#include "toy/encode.h"
#include "toy/language/body.h"

/* From `address` on, the code comes from that line. */
struct code_line {
    uint32_t address; /* in the function */
    uint32_t file;    /* number of a .file directive */
    uint32_t line;
};

/* A function that has been assembled. All of it lives in the arena of a room. */
struct function_code {
    const struct ptx_item *item;
    uint32_t global;             /* index in the scope */
    uint64_t nanoseconds;        /* that it took, under --phase-trace */
    struct body_symbol *symbols; /* those of the body */
    size_t symbol_count;
    struct bytes code;
    struct code_relocation *relocations; /* rising offsets */
    size_t relocation_count;
    uint32_t *exits; /* offsets of the instructions that end it */
    size_t exit_count;
    struct code_line *lines; /* rising addresses; only with line information */
    size_t line_count;
    struct text *signatures; /* of its indirect calls, each once */
    size_t signature_count;
    uint32_t register_count;
    uint32_t register_limit;
    uint32_t barrier_count;
    uint32_t parameter_bytes; /* of a kernel, without what precedes them in the bank */
    uint32_t frame_bytes;     /* of local memory */
    uint32_t spill_bytes;
    bool uses_textures;
    uint64_t shared_bytes;     /* kernels: of the body's own .shared variables */
    uint32_t shared_alignment; /* the largest of them */
    uint32_t constant_symbol;  /* the symbol of the section of its parameters; 0 = none */
};

/* The memory of one worker: nobody else allocates from it, so that no lock is taken. */
struct room {
    struct arena arena;   /* results */
    struct arena scratch; /* of one function */
    struct buffer code;   /* the same, and so on */
    struct table signatures;
};

struct unit;

/* Assembles the function, which has `item` and `global` set: parse, allocate, lay out, encode. The
 * unit is only read. False, and errors. */
bool compile_function(const struct unit *unit, struct function_code *function, struct room *room);
