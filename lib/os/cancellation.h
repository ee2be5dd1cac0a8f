/* cancellation.h: a cancellation flag: any thread may set it, workers poll it.
 *
 * Code that has handed work on to workers with flags of their own watches it instead, and is called
 * in the thread that sets it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct cancellation {
    pthread_mutex_t lock;
    int is_set; /* read without the lock, too: atomically */
    void (*reach)(void *argument);
    void *argument;
};

/* Initialises it, not set; it may not move afterwards. False when there is no memory for it. */
bool cancellation_make(struct cancellation *stop);

/* Destroys it; nobody may use it any more. */
void cancellation_end(struct cancellation *stop);

/* Sets it, and calls the watcher. By any thread, more than once. */
void cancellation_set(struct cancellation *stop);

/* NULL is never set. */
bool cancellation_is_set(const struct cancellation *stop);

/* Has reach(argument) called when it is set, or at once when it is already; reach() must not block.
 * There is one watcher at a time. NULL is never set. */
void cancellation_watch(struct cancellation *stop, void (*reach)(void *argument), void *argument);

/* There is no call after this returns. */
void cancellation_unwatch(struct cancellation *stop);
