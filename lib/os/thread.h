/* thread.h: what the calling thread has of its own: its locale, and its stack. */
#pragma once

#include <locale.h>
#include <stddef.h>

/* Gives it the C locale, in which numbers have a point, whatever the program uses. Returns what it
 * had, for uselocale(). */
locale_t thread_use_c_locale(void);

/* Bytes that it may still put on its stack. SIZE_MAX when that cannot be known: on the first thread
 * of a process, whose stack grows, and on a stack that the C library did not set up
 * (sigaltstack(2), makecontext(3)). Allocates a little; never fails. */
size_t thread_stack_left(void);
