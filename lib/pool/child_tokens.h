/* child_tokens.h: the link's own jobserver, for one child program that has threads.
 *
 * ptxas, and libnvvm in libnvJitLink, are jobserver clients. Of the threads that they are told to
 * start, one works on the child's own token, and one more on each token that they hold. They get a
 * pipe with the tokens that the link holds for them, not make's pipe: minilink-internals(7),
 * Jobserver, says why.
 *
 * Safety. The thread that hands out tasks opens, fills and closes it; the task that runs the child
 * sees it through child_tokens_get(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHILD_TOKENS_FLAGS_SIZE 64

struct child_tokens {
    int fds[2];                          /* to read, to write; -1 = the pipe could not be made: */
    int error;                           /* the errno of that */
    size_t given;                        /* tokens that were put in */
    char flags[CHILD_TOKENS_FLAGS_SIZE]; /* "MAKEFLAGS=..." for the child's environment */
};

/* Makes the pipe, empty. Never fails: the caller checks `error` when it runs the child. */
void child_tokens_open(struct child_tokens *tokens);

/* Puts a token in. False when that fails; the caller then still has the token. */
bool child_tokens_give(struct child_tokens *tokens);

void child_tokens_close(struct child_tokens *tokens);

/* The tokens for a child of the calling thread's task; NULL = its threads are not counted. */
const struct child_tokens *child_tokens_get(void);

/* Sets the tokens, and returns the previous ones. */
const struct child_tokens *child_tokens_set(const struct child_tokens *tokens);

/* True in a child that was given such a pipe. */
bool child_tokens_are_here(void);

/* The number of threads that options of ptxas or libnvvm request, by "split-compile=N" or N in the
 * next word; 1 = none do. 0 means the number of online CPUs, and so does a file of options. `words`
 * ends with NULL, or is NULL. */
uint32_t child_tokens_threads(const char *const *words);
