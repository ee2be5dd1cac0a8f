/* jobserver.h: a client of GNU make's jobserver, so that `make -j8` with a link in it runs 8 jobs
 * and not 8 plus one per worker.
 *
 * Properties. A token is one byte read from make's pipe or fifo, and the right to run one job; the
 * same byte is written back when the job ends. One more token is implicit: make counted it when it
 * started us, it is taken first and given back last. State codes: minilink-internals(7), Jobserver.
 *
 * Operation. join, then acquire before and release after each chunk, then close. The description
 * has a reader thread that fills a buffer for waiting workers, woken by a pipe of its own. Here the
 * link thread hands out all chunks, so that it does all of that in one poll for a token, or for a
 * chunk that has ended: no token can be read that nobody waits for, none has to be handed from
 * thread to thread, and nothing must be woken to shut down. That leaves two of the description's
 * three ways to release: a byte goes back to make while there is one, then the implicit token
 * becomes free (the next acquire takes it at once, which is what handing it to a waiter did). close
 * drains the buffer.
 *
 * Safety. A client is used by the link thread only, hence it has no locks, and there is one per
 * process at a time. The inherited descriptors are never changed: they are shared with make, which
 * would see O_NONBLOCK too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Whether to use it: --jobserver=. */
enum jobserver_use {
    JOBSERVER_AUTO = 0, /* when MAKEFLAGS names one; says nothing when not */
    JOBSERVER_ON = 1,   /* the same, but warns when there is none */
    JOBSERVER_OFF = 2,  /* MAKEFLAGS is not looked at */
};

/* The numbers are those of the description; the first that is not OK sticks. */
enum jobserver_state {
    JOBSERVER_OK = 0,
    JOBSERVER_SHORT_IO = 2,     /* the pipe has ended */
    JOBSERVER_SHUT_DOWN = 3,    /* the process is ending, and has given all tokens back */
    JOBSERVER_NO_CLIENT = 4,    /* what NULL is in */
    JOBSERVER_NO_MAKEFLAGS = 5, /* the variable is not set */
    JOBSERVER_NO_AUTH = 6,      /* no jobserver in it */
    JOBSERVER_NOT_OPEN = 7,     /* one is named that cannot be understood or opened */
    JOBSERVER_IO_ERROR = 11,    /* read, write or poll failed */
    JOBSERVER_BAD_RELEASE = 12, /* a token was released that was not held */
};

enum jobserver_kind {
    JOBSERVER_NONE,
    JOBSERVER_FIFO,     /* --jobserver-auth=fifo:PATH, GNU make 4.4 */
    JOBSERVER_PIPE,     /* --jobserver-auth=R,W, before 4.2 --jobserver-fds=R,W */
    JOBSERVER_SERIAL,   /* -j1 without a jobserver: one job is all that make was asked for */
    JOBSERVER_DISABLED, /* negative descriptors: make keeps the recipe out on purpose */
};

/* What MAKEFLAGS says. */
struct jobserver_auth {
    enum jobserver_kind kind;
    int read_fd; /* of a pipe */
    int write_fd;
    struct text path; /* of a fifo; a view of MAKEFLAGS */
};

/* Most tokens that a client holds besides the implicit one; then it acts as if make had no more. */
#define JOBSERVER_MOST 1024

struct jobserver;

/* Reads the value of MAKEFLAGS (NULL = not set). The last jobserver in it counts. What stands
 * behind a word `--` are the user's variables; and a first word of single letters with `n` among
 * them is `make -n`, where there is nothing to share. Returns JOBSERVER_OK when auth->kind is not
 * NONE, else JOBSERVER_NO_MAKEFLAGS, _NO_AUTH, or _NOT_OPEN for a value in no known form. */
enum jobserver_state jobserver_parse(const char *makeflags, struct jobserver_auth *auth);

/* Opens a fifo or a pipe. The client is always usable: when its state is not JOBSERVER_OK it has
 * the implicit token alone. NULL when memory runs out or another client is open. */
struct jobserver *jobserver_open(const struct jobserver_auth *auth);

/* Whether make says how many jobs may run, by a jobserver or -j1, so that one more needs a token.
 */
bool jobserver_counts(enum jobserver_use use);

/* The client for the jobserver that the environment names. NULL when there is none, and *threads is
 * left alone; or when it is broken or disabled, make runs one job, or it is open already, and
 * *threads is set to 1. One that cannot be used is warned about, once, with JOBSERVER_ON; else it
 * is an info under -vv: a recipe without `+` is no mistake where nobody asked. */
struct jobserver *jobserver_join(enum jobserver_use use, uint32_t *threads);

/* Takes a token; waits until there is one or `wake_fd` is readable, which is looked at first when
 * there is something to wait for: none was taken then, and the result is false. After an error it
 * waits for `wake_fd` alone. */
bool jobserver_acquire(struct jobserver *jobserver, int wake_fd);

/* Gives a token back, the implicit one last. Returns the state; NULL has nothing to give. */
enum jobserver_state jobserver_release(struct jobserver *jobserver);

enum jobserver_state jobserver_state(const struct jobserver *jobserver);

/* What a state means, in words for a message. */
const char *jobserver_state_text(enum jobserver_state state);

/* Gives every token back and frees the client. Returns the state in which it ended; accepts NULL.
 */
enum jobserver_state jobserver_close(struct jobserver *jobserver);

/* Says in which state a client ended when that is not JOBSERVER_OK: a warning with JOBSERVER_ON, an
 * info under -vv else. */
void jobserver_report_end(enum jobserver_use use, enum jobserver_state state);

/* Gives every token of the open client back. Async-signal-safe: for handlers of SIGINT and SIGTERM
 * that end the program; they must run in the link thread, or while no token is taken. */
void jobserver_return_all(void);
