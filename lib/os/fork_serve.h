/* fork_serve.h: the server's side of fork_server.h, and its protocol. The server's standard input
 * is a socket that keeps message boundaries; its end ends the server. Each message is a job: one
 * byte, with descriptors. The job is answered by its copy, just before that ends, in a pipe of its
 * own; if there is no answer, the copy was killed, or there is no server. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

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
