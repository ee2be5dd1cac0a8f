/* internal.h: the parts of exec_run(), for the fork server and handlers of signals. */
#pragma once

#include "os/exec.h"
#include "os/file.h"

/* exec.c: starts a program and returns at once; its output waits in a pipe, as far as that has
 * room. The caller ends it with exec_finish(). NULL, with errno set, when it cannot be started. */
struct exec_child *exec_start(const struct exec_request *request);

/* Whether the request is cancelled: *cancelled is set, or exec_kill_all was called. */
bool exec_is_cancelled(const struct exec_request *request);

/* Waits for the end of a child, and frees it. Of the request it uses output_limit, timeout (from
 * now on), is_asked_first and cancelled. The caller frees result->output in every case. */
void exec_finish(struct exec_child *child, const struct exec_request *request,
                 struct exec_result *result);

/* Kills a child's group and frees the child; it is left to exec_reap_all(). */
void exec_leave(struct exec_child *child);

/* From now on, programs that this thread executes have fixed addresses. A thread's personality is
 * its own, and inherited by its children; a sandbox may forbid changing it (Docker's default does).
 * Returns the previous personality; -1 when nothing has changed. */
int exec_fix_addresses(void);

/* Sends a signal to every running group. Async-signal-safe. */
void exec_signal_all(int number);

/* file.c: the output of a child, kept up to a limit. Start with {.limit = ...}. */
struct capture {
    char *data; /* malloc'ed, `size` bytes and a NUL; NULL = nothing yet */
    size_t size;
    size_t capacity;
    size_t limit;
    bool cut; /* there was more than the limit, or than memory for it */
};

/* A pipe, closed on exec, above standard descriptors; reads do not block. False with errno; both
 * ends are -1 then. */
bool capture_pipe(int fds[2]);

/* Reads what is in the pipe now. False at its end. */
bool capture_read(struct capture *capture, int fd);
