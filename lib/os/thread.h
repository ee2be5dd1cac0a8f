/* thread.h: the calling thread's signals, locale and stack. */
#pragma once

#include <locale.h>
#include <signal.h>
#include <stddef.h>

/* Blocks all signals, so that no handler runs between two steps, and returns the previous mask for
 * thread_restore_signals(). */
sigset_t thread_block_signals(void);
void thread_restore_signals(sigset_t before);

/* Sets its locale to C, in which numbers have a decimal point, whatever the program uses. Returns
 * the previous one, for uselocale(). */
locale_t thread_use_c_locale(void);

/* Bytes left on its stack. SIZE_MAX when that cannot be known: on the first thread of a process,
 * whose stack grows, and on a stack that the C library did not set up (sigaltstack(2),
 * makecontext(3)). Allocates a little; never fails. */
size_t thread_stack_left(void);
