/* fork_message.h: what minilink and a fork server say to each other, on a socket that keeps
 * messages apart: the server's standard input. A request for one job has descriptors with it;
 * the answer comes when the job has ended. The end of the socket ends the server. */
#pragma once

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
