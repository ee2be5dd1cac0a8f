/* fork_server.h: a program of others that is started once, and copied for each job.
 *
 * ptxas 13.0 takes 13 ms for a small kernel, of which 8 pass before it opens its input: the same
 * for each chunk (measured). Here it is started once with a small shared object preloaded, which
 * waits where the program opens its input and forks there for each job; a copy takes 6 ms. AFL's
 * fork server is the model.
 *
 * A server belongs to one job at a time, and waits for the next one, for two seconds at most. It is
 * used again for the same words, program file, environment, working folder and user only. In the
 * program it is ended with the link. In a library it outlives the link, is no child of the process,
 * so that nobody waits for it who waits for all children, and ends with it at the latest. Safety.
 * Called by many threads at once. */
#pragma once

#include <stdbool.h>

#include "os/exec.h"

/* Words that stand for the names of the job's files, which are other ones for each server. */
extern const char fork_server_input[], fork_server_output[];

/* Has a job done as exec_run() would: of the request, `argv`, whose first word is the path of an
 * ELF program and which has the two words above, the limit of output, the time and `cancelled` are
 * looked at. `input` and `output` are open files. The caller frees result->output.
 *
 * False when it was not done, and nothing has happened: the program is run for the first time by
 * this process, for which a server does not pay; it does not work as a server, or its copy was
 * killed by a signal; or there are no descriptors. */
bool fork_server_run(const struct exec_request *request, int input, int output,
                     struct exec_result *result);

/* Whether fork_server_run() would start or use a server for these words. If not, it will the next
 * time, as if the program had been run now. */
bool fork_server_pays(const char *const *argv);

/* Ends all servers that wait. */
void fork_server_end_all(void);
