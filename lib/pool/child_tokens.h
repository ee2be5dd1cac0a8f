/* child_tokens.h: a jobserver of the link's own, for one program that it runs and that has threads.
 *
 * ptxas, and libnvvm in libnvJitLink, are clients of a jobserver (measured on 13.0: MAKEFLAGS with
 * --jobserver-auth=R,W): of the threads that they have been told to start as many work as they hold
 * tokens, and one more, whose token is that of the child. They are handed a pipe with the tokens
 * that the link holds for them, and not make's:
 * - a child that is killed takes the tokens of make's pipe along; these the link gives back itself;
 * - under `make -j1`, and where make keeps its jobserver from the recipe, there is none, and they
 *   would take no notice of make; an empty pipe lets one thread work;
 * - they need not be told another number of threads, with which their code would be another.
 *
 * Safety. Opened, given to and closed by the thread that hands out tasks; the task that runs the
 * child sees it through child_tokens_get(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHILD_TOKENS_FLAGS_SIZE 64

struct child_tokens {
    int fds[2];                          /* to read, to write; -1 = the pipe could not be made: */
    int error;                           /* the errno then */
    size_t given;                        /* tokens that were put in */
    char flags[CHILD_TOKENS_FLAGS_SIZE]; /* "MAKEFLAGS=..." for the child's environment */
};

/* Makes the pipe, empty. Never fails: who runs the child asks for `error`. */
void child_tokens_open(struct child_tokens *tokens);

/* Puts a token in. False when that cannot be; it stays the caller's then. */
bool child_tokens_give(struct child_tokens *tokens);

void child_tokens_close(struct child_tokens *tokens);

/* The tokens for a child of the calling thread's task; NULL = nobody counts its threads. */
const struct child_tokens *child_tokens_get(void);

/* Sets them, and returns those before. */
const struct child_tokens *child_tokens_set(const struct child_tokens *tokens);

/* True in a child that was handed such a pipe. */
bool child_tokens_are_here(void);

/* The most threads that words for ptxas or libnvvm ask for, by "split-compile=N" or N in the next
 * word; 1 = they do not. 0 stands for the number of online CPUs, and so does a file of options.
 * `words` ends with NULL, or is NULL. */
uint32_t child_tokens_threads(const char *const *words);
