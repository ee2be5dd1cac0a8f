/* worker.h: the process that launches kernels, one after another in one context, which takes far
 * longer to make than a launch. The driver does not promise to work on in a process after a
 * kernel's error, so an error is the last thing that a worker does: the next launch has a new one,
 * and finds nothing of the error. */
#pragma once

#include <sys/types.h>

#include "kernel.h"

struct worker {
    const struct images *images;
    pid_t process; /* 0: there is none */
    int socket;
};

/* "timeout": the step of a launch that did not end, or whose process died. */
extern const char worker_lost[];

/* Launches a kernel of the image with that number in the worker, which is started when there is
 * none. Ends this process with status 77 when there is no GPU. */
void worker_launch(struct worker *worker, struct outcome *outcome, size_t image,
                   const struct shape *shape, unsigned block);

/* Ends the worker, so that the next launch has another context. */
void worker_stop(struct worker *worker);
