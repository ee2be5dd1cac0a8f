/* caller_state.c: the context by base/context.h, the locale and two signals by the system. */
#include "library/caller_state.h"

#include <time.h>

#include "os/thread.h"

/* Signals that a write may raise. */
static const int signals[] = {SIGPIPE, SIGXFSZ};

static void list_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

bool caller_state_save(struct caller_state *saved)
{
    sigset_t set;

    if (!context_enter(&saved->context))
        return false;
    list_signals(&set);
    sigpending(&saved->pending);
    pthread_sigmask(SIG_BLOCK, &set, &saved->blocked);
    saved->locale = thread_use_c_locale();
    return true;
}

/* Consumes the signals that came meanwhile: the library's own writes raised them. */
static void drop_signals(const struct caller_state *saved)
{
    static const struct timespec at_once;
    sigset_t set;

    list_signals(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigismember(&saved->pending, signals[i]))
            sigdelset(&set, signals[i]);
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        continue;
}

void caller_state_restore(const struct caller_state *saved)
{
    uselocale(saved->locale);
    drop_signals(saved);
    pthread_sigmask(SIG_SETMASK, &saved->blocked, NULL);
    context_leave(&saved->context);
}
