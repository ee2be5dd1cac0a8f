/* cancellation.c: sets, reads and watches the flag. The lock keeps the watcher alive while it is
 * called. */
#include "os/cancellation.h"

#include <stddef.h>

void cancellation_make(struct cancellation *stop)
{
    *stop = (struct cancellation){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void cancellation_end(struct cancellation *stop)
{
    pthread_mutex_destroy(&stop->lock);
}

void cancellation_set(struct cancellation *stop)
{
    pthread_mutex_lock(&stop->lock);
    __atomic_store_n(&stop->is_set, 1, __ATOMIC_SEQ_CST);
    if (stop->reach)
        stop->reach(stop->argument);
    pthread_mutex_unlock(&stop->lock);
}

bool cancellation_is_set(const struct cancellation *stop)
{
    return stop && __atomic_load_n(&stop->is_set, __ATOMIC_SEQ_CST);
}

void cancellation_watch(struct cancellation *stop, void (*reach)(void *argument), void *argument)
{
    if (!stop)
        return;
    pthread_mutex_lock(&stop->lock);
    stop->reach = reach;
    stop->argument = argument;
    if (stop->is_set)
        reach(argument);
    pthread_mutex_unlock(&stop->lock);
}

void cancellation_unwatch(struct cancellation *stop)
{
    if (!stop)
        return;
    pthread_mutex_lock(&stop->lock);
    stop->reach = NULL;
    pthread_mutex_unlock(&stop->lock);
}
