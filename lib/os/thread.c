/* thread.c: asks the C library about the calling thread. */
#include "os/thread.h"

#include <stdint.h>
#include <unistd.h>

sigset_t thread_block_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

void thread_restore_signals(sigset_t before)
{
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* glibc's C locale is static: it is the same object each time, without an allocation. */
locale_t thread_use_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

size_t thread_stack_left(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), lowest;
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;

    /* For the first thread glibc reads /proc/self/maps, which may be long. */
    if (gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes) != 0)
        return SIZE_MAX;
    if (pthread_attr_getstack(&attributes, &stack, &size) != 0)
        size = 0;
    pthread_attr_destroy(&attributes);
    lowest = (uintptr_t)stack;
    return here >= lowest && here - lowest < size ? here - lowest : SIZE_MAX;
}

/* A flag's lock keeps its watcher alive while that is called. */
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
