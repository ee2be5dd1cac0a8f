/* dispatch.h: runs many tasks on several threads, within the limits of GNU make.
 *
 * Properties. The calling thread is the coordinator: only it uses the pool and the jobserver. A
 * task is handed to a worker when its token has been taken, and the token is returned as soon as
 * the task has ended: workers know nothing of tokens, and none waits in a queue.
 *
 * Operation. One call runs all tasks. Without a pool (one thread is requested, or none can be
 * created) they run in the calling thread, in the order of the list; under make too, where the
 * calling thread's own token covers that.
 *
 * Tokens that cannot start a task go to programs with threads that tasks run.
 *
 * Safety. May be called by several threads at once, and from within a task. There is one jobserver
 * client per process: a call within a task that holds a token runs in its thread. */
#pragma once

#include <stdbool.h>

#include "pool/jobserver.h"
#include "pool/pool.h"

struct cancellation; /* os/thread.h */

/* What a link may use. */
struct dispatch_limits {
    uint32_t threads;             /* at any time, those inside children included; 0 = no limit */
    uint64_t memory;              /* bytes, as in pool.h: limits the number of tasks at a time */
    enum jobserver_use jobserver; /* turn it off when the user gave a number of threads */
    struct cancellation *stop;    /* set when the results are no longer wanted; or NULL */
};

struct dispatch_request {
    struct pool_task *tasks; /* in order; several threads take the highest priority first */
    size_t count;
    uint32_t threads; /* at least 1, and at most `count` and JOBSERVER_MOST are used */
    enum jobserver_use jobserver;
    uint32_t child_threads; /* threads of a program that a task runs (child_tokens); 0, 1 = no
                               threads to count */
    /* True for a task that is not needed: it is run without a token, to report that; or NULL. */
    bool (*is_cancelled)(void *argument);
};

/* Runs all tasks; when all have ended, returns the number of threads that ran them. A jobserver
 * that fails is reported with one warning. */
uint32_t dispatch_run(const struct dispatch_request *request);

/* A loop over many items, cut into parts that run on a few threads.
 *
 * Properties. The parts' results must not depend on where the loop is cut. Their messages do not:
 * they come in the order of the items, as if one thread had processed them.
 *
 * Safety. Parts run at the same time: each writes only data of its own items, or of its part. Few
 * items run in the calling thread alone. */
/* Most parts of a loop; callers keep only little data for each. */
#define PARALLEL_MOST_PARTS 16u

struct parallel_limits {
    uint32_t threads; /* at most; 0 = 1 */
    enum jobserver_use jobserver;
};

/* Parts of a loop over `count` items if each should have `least`: 1 to PARALLEL_MOST_PARTS. */
size_t parallel_parts(const struct parallel_limits *limits, size_t count, size_t least);

/* Calls run(argument, part, first, last) for each part, counted from 0, for the items from `first`
 * to before `last`. When all have ended, raises the error of the first part that raised one. */
void parallel_for(const struct parallel_limits *limits, size_t count, size_t least,
                  void (*run)(void *argument, size_t part, size_t first, size_t last),
                  void *argument);
