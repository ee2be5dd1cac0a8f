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
#include <sys/socket.h>

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

/* The server's side, and the protocol. The server's standard input
 * is a socket that keeps message boundaries; its end ends the server. Each message is a job: one
 * byte, with descriptors. The job is answered by its copy, just before that ends, in a pipe of its
 * own; if there is no answer, the copy was killed, or there is no server. */

/* The descriptors of a job: a pipe for the answer, one for the output, and at most three files. The
 * copy is killed when nobody can read its answer any more. */
enum { FORK_ANSWER, FORK_OUTPUT, FORK_FIRST_FILE, FORK_DESCRIPTORS = FORK_FIRST_FILE + 3 };

union fork_descriptors {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE(FORK_DESCRIPTORS * sizeof(int))];
};

struct fork_answer {
    int32_t status; /* of its exit */
    uint64_t peak;  /* peak memory in bytes */
};

/* The variable that makes a program a server: for how many milliseconds it waits for its next job;
 * 1 if it is to be no child of minilink, as a caller that waits for any child must not wait for it,
 * else 0; and the descriptor numbers of a job's files; each after a blank. */
#define FORK_VARIABLE "MINILINK_FORK_SERVER"

/* The shared object of preload/fork_server.c, as bytes of this program; made by the Makefile. */
extern const unsigned char fork_server_image[];
extern const size_t fork_server_image_size;

/* The descriptor number of the job's file with this index; -1 = there is none, or this process is
 * no server, or a copy that has its job. Allocates nothing. */
int fork_serve_number(int file);

/* Waits for jobs, and forks the process for each. Returns in the copies, whose files, standard
 * input and output are the job's; the server itself ends here. Allocates nothing, so that a copy's
 * allocations have the same addresses as in a process of its own. */
void fork_serve(void);

/* The same if this process was started as a server; otherwise does nothing. */
void fork_serve_if_wanted(void);

/* In a copy, ends the job and the process: the linker goes on while the kernel takes the process
 * apart (a millisecond with libnvJitLink loaded). Elsewhere it returns. */
void fork_serve_end(int status);
