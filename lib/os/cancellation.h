/* cancellation.h: a wish that another thread may have: that work which is no longer wanted ends
 * soon.
 *
 * Who works asks cancellation_is_set() now and then; who has handed work on to others, with flags
 * of their own, watches, and is called in the thread that no longer wants it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct cancellation {
    pthread_mutex_t lock;
    int is_set; /* read without the lock, too: atomically */
    void (*reach)(void *argument);
    void *argument;
};

/* Makes one that is not set, and may not move. False when there is no memory for it. */
bool cancellation_make(struct cancellation *stop);

/* Ends one that was made; nobody uses it any more. */
void cancellation_end(struct cancellation *stop);

/* From now on it is set. Calls who watches. By any thread, more than once. */
void cancellation_set(struct cancellation *stop);

/* NULL is never set. */
bool cancellation_is_set(const struct cancellation *stop);

/* Has reach(argument) called when it is set, or at once when it is already; it must not wait for
 * anything. One at a time may watch; accepts NULL, which never calls. */
void cancellation_watch(struct cancellation *stop, void (*reach)(void *argument), void *argument);

/* From here on there is no call. */
void cancellation_unwatch(struct cancellation *stop);
