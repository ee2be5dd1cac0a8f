/* outside.h: what a call finds in its thread, and leaves as it was.
 *
 * Messages have the thread's context. Texts have numbers with a point, whatever the program's
 * locale says. A file that may not grow, or a pipe that nobody reads, is an error that a write
 * returns: the signals that come with it would end the program. */
#ifndef MINILINK_LIBRARY_OUTSIDE_H
#define MINILINK_LIBRARY_OUTSIDE_H

#include <locale.h>
#include <signal.h>

#include "base/context.h"

struct outside {
    struct context context;
    locale_t locale;
    sigset_t blocked, pending;
};

/* False when there is no memory for a context. */
bool outside_leave(struct outside *outside);

void outside_return(const struct outside *outside);

#endif
