/* program.h: the functions of a chunk as a finished program, in which nothing calls across
 * sections: each kernel with copies of what it calls, its shared memory and its stack laid out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toy/unit.h"

/* A function in a kernel's section: the kernel itself, or a copy of one that it reaches. */
struct program_part {
    const struct function_code *code;
    uint32_t place;  /* in the section */
    uint32_t symbol; /* index in .symtab */
};

/* What the driver fills in: addresses of variables, and calls of its own functions. */
struct program_relocation {
    uint64_t offset; /* in the section */
    uint32_t type;   /* enum cubin_relocation_type */
    bool is_function;
    uint32_t target; /* index in the scope of a function, else in the data's objects */
    int64_t addend;
};

struct program_kernel {
    uint32_t function;          /* index in unit->functions */
    struct program_part *parts; /* the kernel, and its copies in the order in which they are met */
    size_t part_count;
    struct bytes code;
    struct program_relocation *relocations; /* rising offsets */
    size_t relocation_count;
    uint32_t *externs; /* functions of the driver that it calls, each once: indices in the scope */
    size_t extern_count;
    uint32_t register_count; /* the most of all parts, as are the barriers */
    uint32_t barrier_count;
    uint64_t stack_bytes;      /* of the deepest chain of calls, its own frame among them */
    uint64_t shared_bytes;     /* with what the driver keeps for itself; 0 = it has none */
    uint32_t shared_alignment; /* 0 = it has no shared memory */
};

struct program {
    struct program_kernel *kernels; /* the last one of the text first, as ptxas compiles them */
    size_t kernel_count;
};

/* Makes the program of the unit's functions and data, in its arena. Returns NULL, or else why it
 * cannot be a finished one: that is for a linker to make. What a kernel becomes depends on the
 * kernel, what it reaches, and the variables of the module: on no other kernel. */
const char *program_make(struct program *program, struct unit *unit);
