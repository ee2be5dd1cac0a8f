/* outside.c: taken off on the way in, put on again on the way out. */
#include "library/outside.h"

#include <time.h>

#include "base/plain_locale.h"

/* Of writes. */
static const int signals[] = {SIGPIPE, SIGXFSZ};

static void list_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

bool outside_leave(struct outside *outside)
{
    sigset_t set;

    if (!context_enter(&outside->context))
        return false;
    list_signals(&set);
    sigpending(&outside->pending);
    pthread_sigmask(SIG_BLOCK, &set, &outside->blocked);
    outside->locale = plain_locale_use();
    return true;
}

/* Takes the signals that came meanwhile, which are this thread's own. */
static void drop_signals(const struct outside *outside)
{
    static const struct timespec at_once;
    sigset_t set;

    list_signals(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigismember(&outside->pending, signals[i]))
            sigdelset(&set, signals[i]);
    while (sigtimedwait(&set, NULL, &at_once) > 0)
        continue;
}

void outside_return(const struct outside *outside)
{
    uselocale(outside->locale);
    drop_signals(outside);
    pthread_sigmask(SIG_SETMASK, &outside->blocked, NULL);
    context_leave(&outside->context);
}
