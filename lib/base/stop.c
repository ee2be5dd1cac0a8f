/* stop.c: the lock keeps what is reached from going away meanwhile. */
#include "base/stop.h"

#include <stddef.h>

bool stop_make(struct stop *stop)
{
    *stop = (struct stop){0};
    return pthread_mutex_init(&stop->lock, NULL) == 0;
}

void stop_end(struct stop *stop)
{
    pthread_mutex_destroy(&stop->lock);
}

void stop_set(struct stop *stop)
{
    pthread_mutex_lock(&stop->lock);
    __atomic_store_n(&stop->is_set, 1, __ATOMIC_SEQ_CST);
    if (stop->reach)
        stop->reach(stop->argument);
    pthread_mutex_unlock(&stop->lock);
}

bool stop_is_set(const struct stop *stop)
{
    return stop && __atomic_load_n(&stop->is_set, __ATOMIC_SEQ_CST);
}

void stop_watch(struct stop *stop, void (*reach)(void *argument), void *argument)
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

void stop_unwatch(struct stop *stop)
{
    if (!stop)
        return;
    pthread_mutex_lock(&stop->lock);
    stop->reach = NULL;
    pthread_mutex_unlock(&stop->lock);
}
