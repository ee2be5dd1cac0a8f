/* ptxas.h: NVIDIA's assembler, one process per chunk. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "minilink/assembler.h"
#include "os/exec.h"

struct assembler_request;
struct ptxas_ahead;

/* A ptxas that was found, and how it is run. Start with {0}. */
struct ptxas {
    char *path;
    char *version;             /* from ptxas_version(), or NULL */
    unsigned timeout;          /* seconds that one chunk may take; 0 = no limit */
    struct ptxas_ahead *ahead; /* started for the first chunk, or NULL (ptxas_ahead.h) */
};

/* Looks for ptxas: --ptxas, then --cuda-path, then -nvvmpath's toolkit, CUDA_HOME, CUDA_PATH and
 * PATH; what --ptxas or --cuda-path names is not replaced by what is found elsewhere. Returns a
 * malloc'ed path, or NULL with the places in `tried`, which may be NULL. Nothing is run and nothing
 * reported. */
char *ptxas_find(const struct assembler_request *request, struct buffer *tried);

/* Finds ptxas; it is not run. False, and a fatal diagnostic that lists where it was looked for. */
bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request);

/* The last two lines of `ptxas --version`, the release and the build. Runs ptxas on the first call,
 * which takes 3 ms (13.0). NULL, and a fatal diagnostic, when it cannot be run. */
const char *ptxas_version(struct ptxas *ptxas);

/* The same in a worker: malloc'ed, or NULL with the reason in `why`. */
char *ptxas_ask_version(const struct ptxas *ptxas, char *why, size_t size);

void ptxas_close(struct ptxas *ptxas);

/* What ptxas is told of the job beside its files, in the order that shows in the cubin's notes and
 * is nvlink's. In `arena`; ends with NULL. */
const char **ptxas_options(struct arena *arena, const struct minilink_job *job);

/* The words to run ptxas for the job, with one more option (NULL = none) and its files. In `arena`;
 * ends with NULL. */
const char *const *ptxas_command(struct arena *arena, const struct ptxas *ptxas,
                                 const struct minilink_job *job, const char *option,
                                 const char *input, const char *output);

/* How a run of it ended, in words that follow a name, written to `text`, or NULL when it ended
 * well. */
const char *ptxas_describe_end(const struct exec_result *result, char *text, size_t size);

/* The assemble() of the interface; `state` is the struct ptxas. In mode WHOLE the cubin is an
 * executable, which nothing more can be linked with. */
int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result);
