/* unit.h: one chunk on its way through the assembler: what the phases have found and made so far,
 * and all that the last ones must let go of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "cubin/image.h"
#include "minilink/assembler.h"
#include "ptx/module.h"
#include "toy/cache_operator.h"
#include "toy/compile.h"
#include "toy/data.h"
#include "toy/scope.h"
#include "toy/switches.h"

struct mode;

#define UNIT_PHASES      26u /* minilink-internals(7), Phases */
#define UNIT_REMARK_SIZE 88u

/* A function in an owner's section: of a program the kernel itself, or a copy of one that it
 * reaches. */
struct owner_part {
    const struct function_code *code;
    uint32_t place;  /* in the section */
    uint32_t symbol; /* index in .symtab */
};

/* In the order in which an executable has their names. */
enum owner_section {
    OWNER_TEXT,
    OWNER_INFO,
    OWNER_SHARED,
    OWNER_RELOCATIONS, /* of its code */
    OWNER_CONSTANT,    /* a kernel's parameters */
    OWNER_SECTIONS,
};

/* What has sections of its own: a function; of a program, a kernel with copies of what it reaches.
 */
struct owner {
    struct function_code *function;
    struct owner_part *parts; /* of a program: the kernel, and its copies in the order in which they
                                 are met */
    size_t part_count;
    struct bytes code;
    struct code_relocation *relocations; /* rising offsets */
    size_t relocation_count;
    uint32_t *externs; /* functions that it refers to and that stand elsewhere: indices in the
                          scope; of a program those of the driver, each once */
    size_t extern_count;
    uint32_t register_count; /* the most of all parts, as are the barriers */
    uint32_t barrier_count;
    uint64_t stack_bytes;  /* of a program: of the deepest chain of calls, its own frame included */
    uint64_t shared_bytes; /* of a program: with what the driver keeps for itself */
    uint32_t shared_alignment;         /* 0 = it has no shared memory of its own */
    uint32_t sections[OWNER_SECTIONS]; /* their indices; 0 = it has none */
};

/* In nanoseconds; zero without --phase-trace. */
struct phase_times {
    uint64_t phases[UNIT_PHASES]; /* a phase that memory ran out in has none */
    bool has_run[UNIT_PHASES];    /* or has begun to */
    uint64_t begin;               /* of the first phase, always */
    uint64_t start;
    uint64_t total;
    uint64_t wall_start; /* by the clock on the wall, which may be set meanwhile */
    uint64_t wall_total;
    char remarks[UNIT_PHASES][UNIT_REMARK_SIZE]; /* what a phase did, or why it did nothing */
    struct buffer functions;                     /* a line for each of them */
};

/* Everything that has to be let go of when the chunk is done, however that comes about. Start with
 * {0}. */
struct unit {
    const struct minilink_job *job; /* from phase 14 on with the switches applied: own_job */
    struct minilink_job own_job;
    struct switches switches;
    const struct mode *mode;
    const struct ptx_item *dummy; /* from phase 7 to 13: entries.h */
    struct phase_times times;
    struct cache_operators cache;
    bool has_lines;              /* the results say which line code comes from */
    uint32_t reserved_registers; /* count << 16 | first: see allocate_registers() */
    uint32_t parameter_base;     /* where a kernel's parameters begin in bank 0 */
    uint32_t function_registers; /* -device-function-maxrregcount; 0 = as kernels */
    struct arena arena;          /* results, but for those of functions */
    struct room *rooms;          /* kernels.c: memory of the threads that assemble functions */
    size_t room_count;
    struct buffer code; /* for contents of sections */
    struct ptx_module module;
    struct scope scope;
    struct function_code *functions; /* in order of the text */
    size_t function_count;
    uint32_t thread_count; /* that assembled them */
    struct data data;
    struct owner *owners; /* beside the functions; of a program its kernels, the last one of the
                             text first, as ptxas compiles them */
    size_t owner_count;
    struct image image;
    struct image_strings strings;
    struct buffer cubin;
};

/* driver.c: whether the job is given up; another thread may say so at any time. */
bool unit_is_cancelled(const struct unit *unit);
