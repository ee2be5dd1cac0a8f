/* cancellation.h: a cancellation flag: any thread may set it, workers poll it.
 *
 * Code that has passed work to workers with flags of their own watches it instead: its function is
 * called in the thread that sets the flag. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct cancellation {
    pthread_mutex_t lock;
    int is_set; /* also read without the lock, atomically */
    void (*reach)(void *argument);
    void *argument;
};

/* Initialises it, not set; it may not move afterwards. */
void cancellation_make(struct cancellation *stop);

/* Destroys it; nobody may use it any more. */
void cancellation_end(struct cancellation *stop);

/* Sets it, and calls the watcher. Any thread may do so, more than once. */
void cancellation_set(struct cancellation *stop);

/* NULL is never set. */
bool cancellation_is_set(const struct cancellation *stop);

/* Has reach(argument) called when it is set, or at once when it is already; reach() must not block.
 * There is one watcher at a time. NULL is never set. */
void cancellation_watch(struct cancellation *stop, void (*reach)(void *argument), void *argument);

/* The watcher is not called after this returns. */
void cancellation_unwatch(struct cancellation *stop);
