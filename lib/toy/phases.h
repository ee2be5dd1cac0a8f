/* phases.h: the compilation driver of the built-in assembler: its phases in order, and the
 * larger functions that they use.
 *
 * minilink-internals(7), Embedded driver. If ptxas was measured to differ from the description, the
 * phase does what was measured, and its comment says so. */
#pragma once

#include <stdbool.h>

#include "base/context.h"
#include "toy/unit.h"

/* driver.c */

/* A phase does its part of the work on the unit. When it returns false, which ends the compilation,
 * it has reported why, unless the job is cancelled. */
struct phase {
    uint8_t number;   /* in the description, which has 26 */
    const char *name; /* its heading there */
    bool (*run)(struct unit *unit);
    enum link_code failure; /* the compilation's outcome when it fails */
    bool is_teardown;       /* runs even if earlier phases failed */
};

extern const struct phase driver_phases[DRIVER_PHASES];

/* Runs the phases on a unit whose job is set, up to the first that fails, and then those of the
 * teardown. Only the cubin remains in the unit; the caller owns it. With --phase-trace, the phases
 * that ran are reported with their times. */
enum link_code driver_run(struct unit *unit);

/* mode.c: the compilation modes (minilink-internals(7), Modes). */

enum mode_kind {
    MODE_WHOLE_PROGRAM,
    MODE_COMPILE_ONLY,
    MODE_TOOLS_PATCH,
    MODE_EXTENSIBLE_WHOLE_PROGRAM,
    MODE_KINDS,
};

/* Flags that request a mode. */
enum mode_flag {
    MODE_FLAG_COMPILE_ONLY = 1, /* -c, or a job whose cubin is to be merged with others */
    MODE_FLAG_TOOLS_PATCH = 2,  /* -astoolspatch */
    MODE_FLAG_EXTENSIBLE = 4,   /* -ewp */
    MODE_FLAG_DEBUG = 8,        /* -g */
};

/* The properties of a mode. All modes make the same container: a relocatable cubin. */
struct mode {
    enum mode_kind kind;
    const char *name;
    bool is_program;     /* phase 13: only kernels and the functions that they reach are compiled */
    bool keeps_exported; /* ... and those that other modules may call */
};

/* The mode for a set of enum mode_flag. Reports an error in ptxas's wording and returns NULL for a
 * set that ptxas refuses; warns of flags that it ignores. */
const struct mode *mode_choose(unsigned flags);

/* Phase 8. Code that tools patch into a program may not have kernels, nor memory of its own other
 * than .global. In that mode, reports an error for each kind of resource and returns false if it
 * has (measured); checks that need the bodies are in phase 24. */
bool mode_check_tools_patch(struct unit *unit);

/* Phase 24: the mode's checks after all functions are done. On failure, reports errors and returns
 * false. */
bool mode_check_results(struct unit *unit);

/* conflicts.c: options that conflict with each other or with the module (minilink-internals(7),
 * Phases, 9). */

/* Warns in ptxas's wording of options that are ignored, and resets them in the unit's switches.
 * Reports errors and returns false for conflicts that ptxas refuses. */
bool conflicts_resolve(struct unit *unit);

/* entries.c: selects the functions of a module to compile (minilink-internals(7), Phases, 13). By
 * patterns, for which ptxas has no option, the link selects kernels (options/entries.h). */

/* Selects the functions: all that have a body, or, if the unit's mode compiles programs, the
 * kernels (or those that --entry names) and the functions that they and initial values refer to.
 * Functions that are not selected count as undefined from then on. Reports an error in ptxas's
 * wording and returns false if the module lacks a name given by --entry, or if that must be a
 * kernel's and is not. */
bool entries_select(struct unit *unit);

/* kernels.c: the per-function loop, in one thread or on several: minilink-internals(7), Functions
 * of one chunk. Each function is a work item; small ones are batched. The results are the same for
 * any number of threads, byte for byte and message for message. */

/* Assembles unit->functions, each of which has `item` and `global` set. Returns false if the job is
 * cancelled, or, with errors in the functions' order, if a function cannot be assembled. */
bool kernels_compile(struct unit *unit);

/* results.c: checks and reports on the functions of a chunk after they are assembled
 * (minilink-internals(7), Phases, 24). */

/* A function runs with the registers of the kernel that called it. Reports an error in ptxas's
 * wording for each function that uses more registers than a kernel that reaches it has, and returns
 * false if there are any. */
bool results_check_registers(struct unit *unit);

/* Prints what ptxas prints under -v, and the warnings that the switches request; an info for each
 * function with both an indirect call and mma .f64, and under -v for each ring of calls. */
void results_report(struct unit *unit);
