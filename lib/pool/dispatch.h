/* dispatch.h: runs many tasks on several threads, within the limits of GNU make.
 *
 * Properties. The threads are joinable pthreads named minilink-1 ... -N, which live as long as the
 * call; they block every signal except those of a crash. A task is handed to them when its token
 * has been taken, and the token is returned as soon as the task has ended: only the calling thread
 * uses the jobserver, and no token waits in a queue or with an idle thread. minilink-internals(7),
 * Thread pool, compares this with the description.
 *
 * Operation. One call runs all tasks: those of the highest priority first, in the order of the list
 * among equals. Without threads (one is requested, or none can be created) they run in the calling
 * thread, in the order of the list; under make too, where the calling thread's own token covers
 * that.
 *
 * If a task runs a program with threads of its own, tokens that cannot start a task go to that
 * program while the task runs.
 *
 * Safety. May be called by several threads at once, and from within a task. A task sees everything
 * that the caller wrote before, and the caller afterwards everything that the tasks wrote. There is
 * only one jobserver client per process, though: a call within a task that holds a token runs in
 * its own thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/jobserver.h"

/* Lives until the call returns. */
struct pool_task {
    void (*run)(void *argument);
    void *argument;
    uint32_t priority; /* the highest is started first */
};

struct dispatch_request {
    struct pool_task *tasks;
    size_t count;
    uint32_t threads; /* at least 1, and at most `count` and JOBSERVER_MOST are used */
    enum jobserver_use jobserver;
    uint32_t child_threads; /* threads of a program that a task runs (child_tokens.h); 0, 1 = no
                               threads to count */
    /* True for a task that is no longer needed: it is run without a token, to report that. May be
     * NULL. */
    bool (*is_cancelled)(void *argument);
};

/* Runs all tasks; when all have ended, returns the number of threads that ran them. A jobserver
 * that fails is reported with one warning. */
uint32_t dispatch_run(const struct dispatch_request *request);
