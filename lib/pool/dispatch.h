/* dispatch.h: many tasks on some threads, within what GNU make allows.
 *
 * Properties. The calling thread is the coordinator: it alone knows the pool and the jobserver. A
 * task is handed to a worker when its token is there, and the token goes back as soon as the task
 * has ended: workers know nothing of tokens, and no token waits in a queue or with an idle worker.
 *
 * Operation. One call runs all tasks. Without a pool (one thread is asked for, or none can be made)
 * they run in the calling thread, in the order of the list; that is done under make, too, where the
 * calling thread's own token covers it.
 *
 * Where a task runs a program with threads of its own, tokens that no task can be started with are
 * that program's while the task runs.
 *
 * Safety. May be called by several threads at once, and inside of a task. A task that is run by the
 * calling thread has, as far as pool_worker() goes, that thread's number. A client of the jobserver
 * is one per process, though: a call inside of a task that holds a token runs in its own thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/jobserver.h"
#include "pool/pool.h"

struct dispatch_request {
    struct pool_task *tasks; /* in the order in which one thread runs them; others take the
                                highest priority first */
    size_t count;
    uint32_t threads; /* at least 1; more than tasks are not started, nor more than
                         JOBSERVER_MOST */
    enum jobserver_use jobserver;
    uint32_t child_threads; /* threads that a program may have which a task runs
                               (child_tokens.h); 0, 1 = none that is to be counted */
    /* True for a task that has become pointless: it is run without a token, to say so. May be NULL.
     */
    bool (*is_cancelled)(void *argument);
};

/* Runs all tasks; returns when all have ended, with how many threads ran them. A jobserver that
 * breaks is one warning. */
uint32_t dispatch_run(const struct dispatch_request *request);
