/* jobserver.h: a client of GNU make's jobserver, so that `make -j8` with a link in it runs 8 jobs.
 *
 * Properties. A token is one byte read from make's pipe or fifo, and the right to run one job; the
 * same byte is written back when the job ends. One more token is implicit: make counted it when it
 * started us, it is taken first and given back last. State codes: minilink-internals(7), Jobserver.
 *
 * Operation. join, then acquire before and release after each chunk, then close. The link thread
 * hands out all chunks, so it needs only one poll, for a token or for the end of a chunk: no token
 * is read unless it is needed, and none is passed between threads.
 *
 * Safety. Only the link thread uses a client; there is one per process at a time. The inherited
 * descriptors are never changed: make shares them, and would see O_NONBLOCK too. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* Whether to use it: --jobserver=. */
enum jobserver_use {
    JOBSERVER_AUTO = 0, /* when MAKEFLAGS names one; silent when not */
    JOBSERVER_ON = 1,   /* the same, but warns when there is none */
    JOBSERVER_OFF = 2,  /* MAKEFLAGS is not looked at */
};

/* The numbers are those of the description; a client keeps the first state that is not OK. */
enum jobserver_state {
    JOBSERVER_OK = 0,
    JOBSERVER_SHORT_IO = 2,     /* the pipe has ended */
    JOBSERVER_SHUT_DOWN = 3,    /* the process is ending, and has returned all tokens */
    JOBSERVER_NO_CLIENT = 4,    /* state of a NULL client */
    JOBSERVER_NO_MAKEFLAGS = 5, /* the variable is not set */
    JOBSERVER_NO_AUTH = 6,      /* no jobserver in it */
    JOBSERVER_NOT_OPEN = 7,     /* one is named, but cannot be parsed or opened */
    JOBSERVER_IO_ERROR = 11,    /* read, write or poll failed */
    JOBSERVER_BAD_RELEASE = 12, /* a token was released that was not held */
};

/* The jobserver that MAKEFLAGS names. */
struct jobserver_auth {
    enum jobserver_kind {
        JOBSERVER_NONE,
        JOBSERVER_FIFO,     /* --jobserver-auth=fifo:PATH, GNU make 4.4 */
        JOBSERVER_PIPE,     /* --jobserver-auth=R,W, before 4.2 --jobserver-fds=R,W */
        JOBSERVER_SERIAL,   /* -j1 without a jobserver: make runs one job */
        JOBSERVER_DISABLED, /* negative descriptors: make excludes the recipe on purpose */
    } kind;
    int read_fd, write_fd; /* of a pipe */
    struct text path;      /* of a fifo; a view of MAKEFLAGS */
};

/* Most tokens that a client holds besides the implicit one; it takes no more than these. */
#define JOBSERVER_MOST 1024

/* Parses the value of MAKEFLAGS (NULL = not set). The last jobserver in it counts. Words after `--`
 * are the user's variables; and a first word of single letters that include `n` is `make -n`, where
 * there is nothing to share. Returns JOBSERVER_OK when auth->kind is not NONE, else
 * JOBSERVER_NO_MAKEFLAGS, _NO_AUTH, or _NOT_OPEN for a value of unknown form. */
enum jobserver_state jobserver_parse(const char *makeflags, struct jobserver_auth *auth);

/* Opens a fifo or a pipe. The client is always usable: if its state is not JOBSERVER_OK it has only
 * the implicit token. NULL when memory runs out or another client is open. */
struct jobserver *jobserver_open(const struct jobserver_auth *auth);

/* Whether make limits the number of jobs, by a jobserver or -j1: each further one needs a token. */
bool jobserver_counts(enum jobserver_use use);

/* Opens the client for the jobserver that the environment names. NULL, with *threads unchanged,
 * when there is none; NULL, with *threads set to 1, when it is broken or disabled, make runs one
 * job, or a client is already open. One that cannot be used causes one warning with JOBSERVER_ON,
 * else an info under -vv: a recipe without `+` is then no mistake. */
struct jobserver *jobserver_join(enum jobserver_use use, uint32_t *threads);

/* Takes a token. If it has to wait, it waits until there is a token or `wake_fd` is readable, and
 * checks `wake_fd` first; if that is readable it takes none and returns false. After an error it
 * waits for `wake_fd` only. */
bool jobserver_acquire(struct jobserver *jobserver, int wake_fd);

/* Returns a token to make, the implicit one last. Returns the state. Accepts NULL. */
enum jobserver_state jobserver_release(struct jobserver *jobserver);

/* Returns every token and frees the client. Returns its final state, and reports one other than
 * JOBSERVER_OK of a client that jobserver_join() returned, as that does. Accepts NULL. */
enum jobserver_state jobserver_close(struct jobserver *jobserver);

/* Returns every token of the open client. Async-signal-safe: for handlers of SIGINT and SIGTERM
 * that end the program; they must run in the link thread, or while no token is being taken. */
void jobserver_return_all(void);

/* The link's own jobserver, for one child program that has threads.
 *
 * ptxas, and libnvvm in libnvJitLink, are jobserver clients. Of the threads that they are told to
 * start, one works on the child's own token, and one more on each token that they hold. They get a
 * pipe with the tokens that the link holds for them: minilink-internals(7), Jobserver.
 *
 * Safety. The thread that hands out tasks opens, fills and closes it; the task that runs the child
 * sees it through child_tokens_get(). */
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
