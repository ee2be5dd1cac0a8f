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
#include "toy/compile.h"
#include "toy/data.h"
#include "toy/scope.h"
#include "toy/switches.h"

struct mode;
struct program;
struct room;

#define UNIT_PHASES      26u /* minilink-internals(7), Phases */
#define UNIT_REMARK_SIZE 88u

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
    struct compile_request config; /* what each function's compilation reads, but for its memory */
    struct arena arena;            /* results, but for those of functions */
    struct room *rooms;            /* kernels.c: memory of the threads that assemble functions */
    size_t room_count;
    struct buffer code; /* for contents of sections */
    struct ptx_module module;
    struct scope scope;
    struct function_code *functions; /* in order of the text */
    size_t function_count;
    uint32_t thread_count; /* that assembled them */
    struct data data;
    struct program *program; /* what an executable is made of; NULL in relocatable code */
    struct image image;
    struct image_strings strings;
    struct buffer cubin;
};

/* driver.c: whether the job is given up; another thread may say so at any time. */
bool unit_is_cancelled(const struct unit *unit);
