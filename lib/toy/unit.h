/* unit.h: the state of assembling one chunk: the results of the phases so far, and the resources
 * that the last phases free. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cubin/image.h"
#include "minilink/assembler.h"
#include "ptx/module.h"
#include "toy/body_steps.h"
#include "toy/compile.h"
#include "toy/data.h"
#include "toy/scope.h"

struct mode;

#define DRIVER_PHASES 20u /* of minilink-internals(7), Phases: those that do something */

/* A function in an owner's section: in a program the kernel itself, or a copy of a function that it
 * reaches. */
struct owner_part {
    const struct function_code *code;
    uint32_t place;  /* in the section */
    uint32_t symbol; /* index in .symtab */
};

/* In the order of their names in an executable. */
enum owner_section {
    OWNER_TEXT,
    OWNER_INFO,
    OWNER_SHARED,
    OWNER_RELOCATIONS, /* relocations of its code */
    OWNER_CONSTANT,    /* a kernel's parameters */
    OWNER_SECTIONS,
};

/* The owner of sections: a function, or in a program a kernel with copies of the functions that it
 * reaches. */
struct owner {
    struct function_code *function;
    struct owner_part *parts; /* of a program: the kernel, then the copies in the order in which
                                 they are reached */
    size_t part_count;
    struct bytes code;
    struct code_relocation *relocations; /* by ascending offset */
    size_t relocation_count;
    uint32_t *externs; /* functions in other sections that it refers to: indices in the scope; in a
                          program the driver's functions, each once */
    size_t extern_count;
    uint32_t register_count; /* maximum over all parts, like barrier_count */
    uint32_t barrier_count;
    uint64_t stack_bytes; /* of a program: of the deepest chain of calls, including its own frame */
    uint64_t shared_bytes;     /* of a program: including the bytes reserved for the driver */
    uint32_t shared_alignment; /* 0 = it has no shared memory of its own */
    uint32_t sections[OWNER_SECTIONS]; /* their indices; 0 = it has none */
};

/* Sections of which there is at most one: those of an executable in the order of their names. */
enum single_section {
    SECTION_NAMES,
    SECTION_STRINGS,
    SECTION_SYMBOLS,
    SECTION_LINES,
    SECTION_TOOL_NOTE,
    SECTION_CUDA_NOTE,
    SECTION_BUILTIN_NOTE,
    SECTION_INFO,
    SECTION_COMPAT,
    SECTION_CALLGRAPH,
    SECTION_PROTOTYPE,
    SECTION_LINE_RELOCATIONS,
    SINGLE_SECTIONS,
};

/* The state of one chunk, freed when the chunk is done, whatever the outcome. Start with {0}. */
struct unit {
    const struct minilink_job *job; /* from phase 14 on with the switches applied: own_job */
    struct minilink_job own_job;
    struct switches switches;
    const struct mode *mode;
    struct {
        bool has_run; /* or has begun to run */
        uint64_t nanoseconds;
    } phases[DRIVER_PHASES];
    const char *obstacle; /* why a requested executable is none; NULL = nothing */
    struct cache_operators cache;
    bool has_lines;              /* the results include line numbers */
    uint32_t reserved_registers; /* count << 16 | first: see registers_allocate() */
    uint32_t parameter_base;     /* offset of a kernel's parameters in bank 0 */
    uint32_t function_registers; /* -device-function-maxrregcount; 0 = as kernels */
    struct arena arena;          /* results, except those of functions */
    struct buffer code;          /* scratch for contents of sections */
    struct ptx_module module;
    struct scope scope;
    struct function_code *functions; /* in order of the text */
    size_t function_count;
    struct data data;
    struct owner *owners; /* parallel to the functions; of a program its kernels, last of the text
                             first, as ptxas compiles them */
    size_t owner_count;
    struct image image;
    uint32_t sections[SINGLE_SECTIONS]; /* their indices; 0 = it has none */
    struct image_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    struct image_strings strings;
    struct buffer cubin;
};

/* results.c. For struct components_graph, whose argument is the unit: the function that symbol
 * `position` of a function's body calls, or that function itself if it calls none of the chunk. */
uint32_t unit_callee(void *unit, uint32_t function, uint32_t position);

/* Whether the job is cancelled; another thread may set the flag at any time. */
static inline bool unit_is_cancelled(const struct unit *unit)
{
    return unit->job->cancelled && __atomic_load_n(unit->job->cancelled, __ATOMIC_RELAXED);
}
