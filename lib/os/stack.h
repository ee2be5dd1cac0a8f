/* stack.h: how much of its stack a thread has left. */
#pragma once

#include <stddef.h>

/* Bytes that the calling thread may still put on its stack. SIZE_MAX when that cannot be known: on
 * the first thread of a process, whose stack grows, and on a stack that the C library did not set
 * up (sigaltstack(2), makecontext(3)). Allocates a little; never fails. */
size_t stack_left(void);
