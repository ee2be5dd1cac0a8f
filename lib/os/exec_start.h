/* exec_start.h: how exec.c starts children. */
#pragma once

#include <sys/types.h>

#include "os/exec.h"

/* Standard input, output and error of the child. */
enum { CHILD_INPUT, CHILD_OUTPUT, CHILD_ERRORS };

/* Starts a child as `request` says, with `output` for both of its outputs. Returns 0, or an errno
 * value. */
int exec_start_child(pid_t *pid, const struct exec_request *request, int output);
