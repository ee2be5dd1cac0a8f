/* stop.h: a wish that another thread may have: that work which is no longer wanted ends soon.
 *
 * Who works asks stop_is_set() now and then; who has handed work on to others, with flags of their
 * own, watches, and is called in the thread that no longer wants it. */
#ifndef MINILINK_BASE_STOP_H
#define MINILINK_BASE_STOP_H

#include <pthread.h>
#include <stdbool.h>

struct stop {
    pthread_mutex_t lock;
    int is_set; /* read without the lock, too: atomically */
    void (*reach)(void *argument);
    void *argument;
};

/* Makes one that is not set, and may not move. False when there is no memory for it. */
bool stop_make(struct stop *stop);

/* Ends one that was made; nobody uses it any more. */
void stop_end(struct stop *stop);

/* From now on it is set. Calls who watches. By any thread, more than once. */
void stop_set(struct stop *stop);

/* NULL is never set. */
bool stop_is_set(const struct stop *stop);

/* Has reach(argument) called when it is set, or at once when it is already; it must not wait for
 * anything. One at a time may watch; accepts NULL, which never calls. */
void stop_watch(struct stop *stop, void (*reach)(void *argument), void *argument);

/* From here on there is no call. */
void stop_unwatch(struct stop *stop);

#endif
