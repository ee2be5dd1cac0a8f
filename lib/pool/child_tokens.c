/* child_tokens.c: a pipe, its name in MAKEFLAGS, and which thread runs which child. */
#include "pool/child_tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "pool/pool.h"

/* A prefix that make's own value never has: that begins with letters, or with a blank if there are
 * none. */
static const char own_flags[] = "--jobserver-auth=";

static __thread const struct child_tokens *of_thread;

void child_tokens_open(struct child_tokens *tokens)
{
    *tokens = (struct child_tokens){.fds = {-1, -1}};
    if (pipe2(tokens->fds, O_CLOEXEC))
        tokens->error = errno;
    snprintf(tokens->flags, sizeof tokens->flags, "MAKEFLAGS=%s%d,%d", own_flags, tokens->fds[0],
             tokens->fds[1]);
}

/* A pipe has room for more bytes than a client has tokens (JOBSERVER_MOST). */
bool child_tokens_give(struct child_tokens *tokens)
{
    bool ok = descriptor_write(tokens->fds[1], "+", 1);

    tokens->given += ok;
    return ok;
}

void child_tokens_close(struct child_tokens *tokens)
{
    for (int i = 0; i < 2; i++)
        if (tokens->fds[i] >= 0)
            close(tokens->fds[i]);
    tokens->fds[0] = tokens->fds[1] = -1;
}

const struct child_tokens *child_tokens_get(void)
{
    return of_thread;
}

const struct child_tokens *child_tokens_set(const struct child_tokens *tokens)
{
    const struct child_tokens *before = of_thread;

    of_thread = tokens;
    return before;
}

bool child_tokens_are_here(void)
{
    const char *flags = getenv("MAKEFLAGS");

    return flags && strncmp(flags, own_flags, strlen(own_flags)) == 0;
}

/* The number after the name, or in the next word. */
static uint32_t read_threads(const char *value, const char *next)
{
    unsigned long number;

    value = *value == '=' ? value + 1 : *value || !next ? "1" : next;
    number = strtoul(value, NULL, 0);
    if (number == 0)
        return (uint32_t)pool_cpu_count();
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

uint32_t child_tokens_threads(const char *const *words)
{
    static const char name[] = "split-compile";
    uint32_t most = 1;

    for (; words && *words; words++) {
        const char *found = strstr(*words, name);
        uint32_t threads = found ? read_threads(found + strlen(name), words[1]) : 1;

        /* The contents of an options file are not known. */
        if (strstr(*words, "-optf") || strstr(*words, "-options-file"))
            threads = (uint32_t)pool_cpu_count();
        if (threads > most)
            most = threads;
    }
    return most;
}
