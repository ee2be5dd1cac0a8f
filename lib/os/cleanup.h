/* cleanup.h: cleaning up when the program ends early: by a signal, a crash (perhaps of a plug-in),
 * a plug-in that ends the program or its thread, or an input that is truncated while it is mapped.
 *
 * The clean-up always runs in the link thread, the one that called cleanup_prepare(), since only
 * that may access the jobserver's tokens. Other threads hand events over to it. */
#pragma once

#include <stdbool.h>

/* Calls `clean_up` (or NULL), which must be async-signal-safe, once before the program ends, unless
 * it ends by a return from main() after cleanup_expected(). Signals that were ignored or caught
 * before, as by nohup and by sanitizers, are left alone. `program` is the prefix of messages. */
void cleanup_prepare(const char *program, void (*clean_up)(void));

/* Signals that a thread causes itself; if blocked, they would end the program without a handler. */
#define CLEANUP_CRASHES SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP

/* From here on the program ends normally. */
void cleanup_expected(void);

/* The program's _exit, which a plug-in may call, too. While a link runs, gives it up as for a
 * plug-in that calls exit; otherwise, and in children, ends the process with `status`. The two
 * functions in cmd/minilink/main.c call this; a plug-in's own system call is not caught. */
_Noreturn void cleanup_leave(int status);

/* Gives the calling thread a signal stack, so that an overflow of its own stack can be handled.
 * Returns the argument of cleanup_stack_close(), to be called before the thread ends; NULL when
 * there is no memory, or when the thread has such a stack already. */
void *cleanup_stack_open(void);
void cleanup_stack_close(void *stack);

/* Calls function(argument), which is foreign code. If that ends the calling thread, for example by
 * pthread_exit(), reports it, cleans up, and ends the program with the status of a failed link.
 * function() must not raise anything. */
void cleanup_guard(void (*function)(void *argument), void *argument);

/* If another process truncates a mapped input, pages that are being read vanish; if it writes to
 * the file, the data may differ from what was checked. When the program crashes, `find_culprit` is
 * asked for such a file: of a page that cannot be read it gets the address, else NULL. It is true
 * with a path and what has happened ("became shorter"). Async-signal-safe. */
void cleanup_blame_by(bool (*find_culprit)(const void *address, const char **path,
                                           const char **what));
