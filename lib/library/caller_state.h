/* caller_state.h: saves the calling thread's context, locale and signal mask on entry to the
 * library, and restores them on return.
 *
 * Messages use the thread's context. Numbers in texts have a decimal point, whatever the program's
 * locale. A write to a file at its size limit, or to a pipe without a reader, must return an error:
 * the signal would end the program. */
#pragma once

#include <locale.h>
#include <signal.h>

#include "base/context.h"

struct caller_state {
    struct context context;
    locale_t locale;
    sigset_t blocked, pending;
};

/* Saves the caller's state and sets the library's own. False when there is no memory for a context.
 */
bool caller_state_save(struct caller_state *saved);

void caller_state_restore(const struct caller_state *saved);
