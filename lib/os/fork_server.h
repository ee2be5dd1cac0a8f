/* fork_server.h: a foreign program that is started once, and forked for each job, where it opens
 * its input: by a shared object that is preloaded. Children of minilink's own that have loaded
 * libLLVM or libnvJitLink do the same. minilink-internals(7), A ptxas that is copied, has times.
 *
 * A server does any number of jobs at a time, and waits for the next one for two seconds at most.
 * It is reused only for the same arguments, program file, environment, working folder and user. In
 * the program it ends with the link. In a library it ends with the process at the latest, and is no
 * child of it, so that a caller that waits for all children does not wait for it. Called by many
 * threads at once, and in a process that was forked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "os/exec.h"

/* Arguments that stand for the names of a job's files, which differ from server to server: compared
 * as pointers. The program opens the first of them first. */
extern const char *const fork_server_files[];

/* How long a server waits for its next job, in milliseconds: 2,000, so that none stays for long
 * after a burst of links. Tests, which may be delayed themselves, set more. */
extern int fork_server_patience;

struct fork_server_job {
    /* As for exec_run(), with the path of an ELF program as the first argument and the placeholders
     * above; `pass`, `input` and `variables` are ignored. */
    struct exec_request run;
    const int *files; /* open files */
    size_t file_count;
    bool is_preloaded; /* a foreign program; else one that calls fork_serve_if_wanted() */
    bool is_repeated;  /* more jobs of its kind follow: a server pays from the first one on */
};

/* Does a job as exec_run() would. The caller frees result->output.
 *
 * False when it was not done, without any effect: this process runs the program for the first time,
 * for which a server does not pay unless the job is repeated; the program does not work as a
 * server; its copy was killed by a signal; or there are no descriptors. */
bool fork_server_run(const struct fork_server_job *job, struct exec_result *result);

/* Starts a server, if there is none yet, for jobs of this kind to come. A failure has no effect. */
void fork_server_start(const struct fork_server_job *job);

/* Ends all servers, which should do no jobs. */
void fork_server_end_all(void);
