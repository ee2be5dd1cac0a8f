/* fork_server.h: a program of others that is started once, and copied for each job.
 *
 * ptxas 13.0 takes 13 ms for a small kernel, of which 8 pass before it opens its input: the same
 * for each chunk (measured). Here it is started once with a small shared object preloaded, which
 * waits where the program opens its input and forks there for each job; a copy takes 6 ms. AFL's
 * fork server is the model. This program, as a child that has loaded libLLVM or libnvJitLink (40 to
 * 90 ms on a busy machine), does the same.
 *
 * A server belongs to one job at a time, and waits for the next one, for two seconds at most. One
 * that works leaves a clone behind for a job beside its own. A server is used again for the same
 * words, program file, environment, working folder and user only. In the program it is ended with
 * the link. In a library it outlives the link, is no child of the process, so that nobody waits for
 * it who waits for all children, and ends with it at the latest. Safety. Called by many threads at
 * once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "os/exec.h"

/* Words that stand for the names of a job's files, which are other ones for each server: compared
 * as pointers. The program opens the first of them first. */
extern const char *const fork_server_files[];

/* How long a server waits for its next job, in milliseconds: 2,000, so that none stays behind a
 * burst of links. Tests, which may be kept waiting themselves, have more. */
extern int fork_server_patience;

struct fork_server_job {
    /* As for exec_run(), with the path of an ELF program as the first word and the words above;
     * what is passed, standard input and variables are not looked at. */
    struct exec_request run;
    const int *files; /* open files */
    size_t file_count;
    bool is_preloaded; /* a program of others; else one that calls fork_serve_if_wanted() */
    bool is_repeated;  /* more jobs of its kind follow: a server pays from the first one on */
};

/* Has a job done as exec_run() would. The caller frees result->output.
 *
 * False when it was not done, and nothing has happened: the program is run for the first time by
 * this process, for which a server does not pay unless the job is repeated; it does not work as a
 * server, or its copy was killed by a signal; or there are no descriptors. */
bool fork_server_run(const struct fork_server_job *job, struct exec_result *result);

/* Whether fork_server_run() would start or use a server for these words. If not, it will the next
 * time, as if the program had been run now. */
bool fork_server_pays(const char *const *argv);

/* Ends all servers that wait. */
void fork_server_end_all(void);
