/* ptxas_ahead.h: starts ptxas before its input exists.
 *
 * Of the 9 ms that ptxas 13.0 takes for a kernel, more than half pass before it opens its input. A
 * link that compiles LTO-IR knows ptxas's options before it has the PTX, so these milliseconds can
 * pass meanwhile, on another CPU.
 *
 * The child's input is /proc/PID/fd/N of this process. At first that is a pipe, and reading it
 * blocks. When the text exists, N becomes a file with the text, and the pipe gets a copy. So each
 * time ptxas opens the name, which it does two or three times, it reads the whole text, however far
 * it has come (measured on 13.0: it reads its input to the end the first time). */
#pragma once

#include <stdbool.h>

#include "minilink/assembler.h"
#include "os/exec.h"

struct ptxas;

/* Starts ptxas for the first job with the same options as `job`, whose text is not used. A failure
 * has no effect. Called by the link thread, once. */
void ptxas_ahead_start(struct ptxas *ptxas, const struct minilink_job *job);

/* Runs the job in the started ptxas. `input` is a file in memory with the job's text. True when
 * ptxas succeeded without a message that has the input's name: its end is in *ended, whose output
 * is the caller's, and its cubin in the file *output, which replaces the previous one. False when
 * it did not, or no ptxas was started for such a job: the job is then unchanged. Any thread. */
bool ptxas_ahead_take(struct ptxas *ptxas, const struct minilink_job *job, int input, int *output,
                      const struct exec_request *request, struct exec_result *ended);

/* Ends the started ptxas, if no job took it. */
void ptxas_ahead_drop(struct ptxas *ptxas);
