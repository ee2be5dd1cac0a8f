/* ptxas.h: NVIDIA's assembler, one process per chunk. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "os/toolkit.h"
#include "minilink/assembler.h"

struct assembler_request;

/* A ptxas that was found, and its settings. Start with {0}. */
struct ptxas {
    char *path;
    const char *place; /* where it was found, until ptxas_tell() has told of it; or NULL */
    char *version;     /* from ptxas_version(), or NULL */
    unsigned timeout;  /* seconds that one chunk may take; 0 = no limit */
};

/* Looks for ptxas, as toolkit_find_ptxas() does, which describes the result and `search`. */
char *ptxas_find(const struct assembler_request *request, struct toolkit_search *search);

/* Finds ptxas without running it. False, and a fatal diagnostic that lists the places searched. */
bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request);

/* -vv: tells, the first time, which ptxas was taken and why. */
void ptxas_tell(struct ptxas *ptxas);

/* The last two lines of `ptxas --version`, the release and the build. Runs ptxas on the first call,
 * which takes 3 ms (13.0). NULL, and a fatal diagnostic, when it cannot be run. */
const char *ptxas_version(struct ptxas *ptxas);

void ptxas_close(struct ptxas *ptxas);

/* The options of ptxas for the job, without its files, in nvlink's order, which shows in the
 * cubin's notes. In `arena`; ends with NULL. */
const char *const *ptxas_options(struct arena *arena, const struct minilink_job *job);

/* The assemble() of the interface; `state` is the struct ptxas. In mode WHOLE the cubin is an
 * executable, which nothing more can be linked with. */
int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result);
