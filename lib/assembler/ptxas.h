/* ptxas.h: NVIDIA's assembler, one process per chunk. */
#ifndef MINILINK_ASSEMBLER_PTXAS_H
#define MINILINK_ASSEMBLER_PTXAS_H

#include "minilink/assembler.h"

struct assembler_request;

/* Looks for ptxas: --ptxas, then --cuda-path, then CUDA_HOME, CUDA_PATH and PATH; what an option
 * names is not replaced by what is found elsewhere. Returns a malloc'ed path; NULL, and a fatal
 * diagnostic that lists where it was looked for, when there is none. */
char *ptxas_find(const struct assembler_request *request);

/* Asks it for its version: the last two lines of `ptxas --version`, which tell the release and the
 * build. Malloc'ed; NULL, and a fatal diagnostic, when it cannot be run. */
char *ptxas_version(const char *path);

/* The assemble() of the interface; `state` is the path, a char *. */
int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result);

#endif
