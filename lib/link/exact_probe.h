/* exact_probe.h: whether what this assembler makes of chunks can be joined: found before any chunk
 * is assembled, so that a program that must be assembled in one piece is not assembled twice. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "base/buffer.h"
#include "link/state.h"

/* Why the program must be assembled in one piece, as far as options and target tell; NULL for no
 * reason. */
const char *exact_probe_options(const struct link *link);

/* The same, as far as ptxas's version tells, which may run ptxas. Of a version that is not known,
 * *needs_probe says that a probe must tell, and is worth its time. */
const char *exact_probe_version(const struct link *link, bool *needs_probe);

/* A small program that has something of each kind, in chunks and in one piece. Start with {0}. */
struct exact_probe {
    struct program program;
    struct chunks chunks, whole;
    struct cubins chunk_cubins, whole_cubin;
    struct buffer image;
};

/* Makes the program for a target, and splits it. */
bool exact_probe_split(struct exact_probe *probe, struct arch arch);

/* Assembles the chunks and joins them, then the whole. NULL if both are the same, else why others
 * need not be tried. Prints nothing. */
const char *exact_probe_run(struct exact_probe *probe, const struct assemble_request *request,
                            struct arena *arena);

void exact_probe_free(void *probe);
