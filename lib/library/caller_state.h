/* caller_state.h: saves the calling thread's context, locale and signal mask on entry to the
 * library, and restores them on return.
 *
 * Messages have the thread's context. Texts have numbers with a point, whatever the program's
 * locale says. A file that may not grow, or a pipe that nobody reads, is an error that a write
 * returns: the signals that come with it would end the program. */
#pragma once

#include <locale.h>
#include <signal.h>

#include "base/context.h"

struct caller_state {
    struct context context;
    locale_t locale;
    sigset_t blocked, pending;
};

/* Saves what is in force and puts the library's own in its place. False when there is no memory for
 * a context. */
bool caller_state_save(struct caller_state *saved);

void caller_state_restore(const struct caller_state *saved);
