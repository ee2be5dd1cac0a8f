/* thread.h: the calling thread's signals, locale and stack; and a flag that stops others. */
#pragma once

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Blocks all signals, so that no handler runs between two steps. Returns the previous mask. */
sigset_t thread_block_signals(void);
void thread_restore_signals(sigset_t before);

/* Sets its locale to C, in which numbers have a decimal point, whatever the program uses. Returns
 * the previous one, for uselocale(). */
locale_t thread_use_c_locale(void);

/* Bytes left on its stack. SIZE_MAX when that cannot be known: on the first thread of a process,
 * whose stack grows, and on a stack that the C library did not set up (sigaltstack(2),
 * makecontext(3)). Allocates a little; never fails. */
size_t thread_stack_left(void);

/* A cancellation flag: any thread may set it, workers poll it.
 *
 * Code that has passed work to workers with flags of their own watches it instead: its function is
 * called in the thread that sets the flag. */
struct cancellation {
    pthread_mutex_t lock;
    int is_set; /* also read without the lock, atomically */
    void (*reach)(void *argument);
    void *argument;
};

/* Initialises it, not set; it may not move afterwards. */
void cancellation_make(struct cancellation *stop);

/* Destroys it; nobody may use it any more. */
void cancellation_end(struct cancellation *stop);

/* Sets it, and calls the watcher. Any thread may do so, more than once. */
void cancellation_set(struct cancellation *stop);

/* NULL is never set. */
bool cancellation_is_set(const struct cancellation *stop);

/* Has reach(argument) called when it is set, or at once when it is already; reach() must not block.
 * There is one watcher at a time. NULL is never set. */
void cancellation_watch(struct cancellation *stop, void (*reach)(void *argument), void *argument);

/* The watcher is not called after this returns. */
void cancellation_unwatch(struct cancellation *stop);
