/* fork_message.h: what minilink and a fork server say to each other, on a socket that keeps
 * messages apart: the server's standard input. A request for one job has three descriptors with it;
 * the answer comes when the job has ended. The end of the socket ends the server. */
#pragma once

#include <stdint.h>

enum fork_request {
    FORK_JOB = 1, /* copy yourself; with descriptors, in the order of enum fork_descriptor */
    FORK_DETACH,  /* be nobody's child from now on: who waits for any child must not wait for you */
};

enum fork_descriptor { FORK_INPUT, FORK_OUTPUT, FORK_PRINTED, FORK_DESCRIPTORS };

struct fork_answer {
    int32_t status; /* as wait() has it */
    uint64_t peak;  /* most memory at a time, in bytes */
};

/* The variable that names the numbers that input and output get in a job: "INPUT OUTPUT". */
#define FORK_VARIABLE "MINILINK_FORK_SERVER"
