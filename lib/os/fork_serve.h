/* fork_serve.h: the server's side of fork_server.h: in this program where it is a child of itself,
 * and in programs of others, by os/preload; and what it and minilink say to each other, on a socket
 * that keeps messages apart: the server's standard input. A request for one job has descriptors
 * with it; the answer comes when the job has ended. The end of the socket ends the server. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Files that a job has, at most. */
#define FORK_FILES 3

enum fork_request {
    FORK_JOB = 1, /* copy yourself: with the descriptors of its messages and of its files */
    FORK_DETACH,  /* be nobody's child from now on: who waits for any child must not wait for you */
    FORK_CLONE,   /* at any time: leave another server behind, with its socket, which comes along */
};

struct fork_answer {
    int32_t status; /* as wait() has it */
    uint64_t peak;  /* most memory at a time, in bytes */
};

/* The variable that makes a server of a program: for how many milliseconds it waits for its next
 * job, and the numbers that a job's files get, each behind a blank. */
#define FORK_VARIABLE "MINILINK_FORK_SERVER"

/* The shared object of preload/fork_server.c, as bytes of this program; made by the Makefile. */
extern const unsigned char fork_server_image[];
extern const size_t fork_server_image_size;

/* The number that the job's file with this index gets; -1 = there is none, or this process is no
 * server, or a copy that has its job. Allocates nothing. */
int fork_serve_number(int file);

/* Waits for jobs, and copies the process for each. Returns in copies, whose files, standard input
 * and output are the job's; the process itself ends here. Allocates nothing: what a copy allocates
 * stands where it would in a process of its own. */
void fork_serve(void);

/* The same where this process was started as a server; else does nothing. */
void fork_serve_if_wanted(void);
