/* cleanup.h: what happens when the program ends before its time: by a signal, by a crash (of a
 * plug-in's code perhaps), by a plug-in that ends it or its own thread, by an input that becomes
 * shorter while it is mapped.
 *
 * The clean-up always runs in the link thread, which alone may look at the jobserver's tokens: that
 * is the thread that called cleanup_prepare(). Whatever happens in another one is handed over. */
#pragma once

#include <stddef.h>

#include "os/file.h"

/* Has `clean_up` (or NULL) called, which must be async-signal-safe, once and before the program
 * ends otherwise than by a return from main() behind cleanup_expected(). Signals that were ignored
 * or caught before, as by nohup and by sanitizers, are left alone. `program` stands in front of
 * messages. */
void cleanup_prepare(const char *program, void (*clean_up)(void));

/* From here on the end is the ordinary one. */
void cleanup_expected(void);

/* What the program's _exit does, which a plug-in may call, too: while a link runs that is given up
 * as for a plug-in that calls exit; else, and in children, the process ends with `status`.
 * cmd/minilink/exit_guard.c has the two functions that lead here; a plug-in that asks the kernel
 * itself is not caught. */
_Noreturn void cleanup_leave(int status);

/* Gives the calling thread a stack to handle an overflow of its own on. Returns what
 * cleanup_stack_close() needs before the thread ends; NULL when there is no memory for it, or when
 * the thread has such a stack. */
void *cleanup_stack_open(void);
void cleanup_stack_close(void *stack);

/* Calls function(argument), which is foreign. If that ends the calling thread, by pthread_exit()
 * for one, this tells so, cleans up, and ends the program with the status of a failed link. What
 * function() raises must not get out of it. */
void cleanup_guard(void (*function)(void *argument), void *argument);

/* An input that is mapped: when somebody else makes its file shorter, pages go away that are being
 * read; when he writes to it, it may hold other numbers than those that were checked. A crash is
 * blamed on it then. */
struct mapping {
    const void *start;
    size_t size;
    const char *path;
    struct file_version version; /* of the file, before it was mapped */
    struct mapping *previous, *next;
};

/* Enters `mapping`, whose first four members are set, and takes it out again: both in the link
 * thread, while no other reads the file. The caller keeps it in between. */
void cleanup_enter_mapping(struct mapping *mapping);
void cleanup_remove_mapping(struct mapping *mapping);

/* The one that `address` lies in, or NULL. Async-signal-safe. */
const struct mapping *cleanup_find_mapping(const void *address);
