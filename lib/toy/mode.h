/* mode.h: the compilation modes (minilink-internals(7), Modes). */
#pragma once

#include <stdbool.h>

struct unit;

enum mode_kind {
    MODE_WHOLE_PROGRAM,
    MODE_COMPILE_ONLY,
    MODE_TOOLS_PATCH,
    MODE_EXTENSIBLE_WHOLE_PROGRAM,
    MODE_KINDS,
};

/* What asks for a mode. */
enum mode_flag {
    MODE_FLAG_COMPILE_ONLY = 1, /* -c, or a job whose cubin is to be merged with others */
    MODE_FLAG_TOOLS_PATCH = 2,  /* -astoolspatch */
    MODE_FLAG_EXTENSIBLE = 4,   /* -ewp */
    MODE_FLAG_DEBUG = 8,        /* -g */
};

/* What a mode does of its own. The container is the same in all: a relocatable cubin. */
struct mode {
    const char *name;
    bool is_program;                  /* phase 13: only kernels and what they reach is compiled */
    bool keeps_exported;              /* ... and what other modules may call */
    void (*begin)(struct unit *unit); /* phase 21: before the first function */
    bool (*finish)(
        struct unit *unit); /* phase 24: after the last; false, and errors; may be NULL */
};

/* The mode for a set of enum mode_flag. NULL, and an error in ptxas's words, for one that it
 * refuses; a warning where it ignores a flag. */
const struct mode *mode_choose(unsigned flags);

const struct mode *mode_get(enum mode_kind kind);

/* Phase 8. What code that tools patch into a program may not have: kernels, and memory of its own
 * besides .global. False, and an error for each kind of resource. */
bool mode_check_tools_patch(const struct unit *unit);
