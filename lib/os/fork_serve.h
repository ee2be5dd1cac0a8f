/* fork_serve.h: the server's side of fork_server.h, and its protocol. The server's standard input
 * is a socket that keeps message boundaries; its end ends the server. A request for a job carries
 * descriptors. The job is answered by its copy, just before that ends, and by the server once it
 * has ended, unless the next job is there by then: the linker takes what comes first, and drops
 * answers to earlier jobs. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The most files of a job. */
#define FORK_FILES 3

enum fork_request {
    FORK_JOB = 1, /* fork a copy; comes with the descriptors of its output and its files */
    FORK_DETACH, /* stop being minilink's child: a caller that waits for any child must not wait for
                    this one */
    FORK_CLONE,  /* at any time: fork another server, for the socket that comes along */
};

/* What is sent to the server. */
struct fork_message {
    uint32_t request; /* enum fork_request */
    uint32_t job;     /* its number among the jobs of this socket */
};

/* The descriptors that come with it: the pipe for the output, and the files. */
union fork_descriptors {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE((1 + FORK_FILES) * sizeof(int))];
};

struct fork_answer {
    uint32_t job;   /* the request's */
    int32_t status; /* as from wait() */
    uint64_t peak;  /* peak memory in bytes */
};

/* The variable that makes a program a server: for how many milliseconds it waits for its next job,
 * and the descriptor numbers of a job's files, each after a blank. */
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
