/* ptxas_ahead.h: a ptxas that is started before its text is there.
 *
 * Of the 9 ms that ptxas 13.0 takes for a kernel, more than half pass before it opens its input. A
 * link that compiles LTO-IR knows ptxas's words before it has the PTX, so that those milliseconds
 * pass meanwhile, on another CPU.
 *
 * The child is told to read /proc/PID/fd/N of this process. That is a pipe at first, from which it
 * waits to read; when the text is there, N becomes the file with it, and the pipe gets a copy. So
 * each opening of the name, of which ptxas makes two or three, reads the whole text, however far
 * the child has come (measured on 13.0: it reads its input to the end the first time). */
#pragma once

#include <stdbool.h>

#include "minilink/assembler.h"
#include "os/exec.h"

struct ptxas;

/* Starts one for the first job that is told the same as `job`, whose text is not looked at. When
 * that cannot be, nothing happens. Called by the link thread, once. */
void ptxas_ahead_start(struct ptxas *ptxas, const struct minilink_job *job);

/* Has the job done by what was started. `input` is a file in memory with the job's text. True when
 * ptxas ended well without a message that has the input's name: its end is in *ended, whose output
 * is the caller's, and its cubin in the file *output, which replaces the one there. False when it
 * was not, or nothing was started for such a job: the job is as it was. Any thread. */
bool ptxas_ahead_take(struct ptxas *ptxas, const struct minilink_job *job, int input, int *output,
                      const struct exec_request *request, struct exec_result *ended);

/* Ends what was started, if no job took it. */
void ptxas_ahead_drop(struct ptxas *ptxas);
