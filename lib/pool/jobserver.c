/* jobserver.c: parses MAKEFLAGS, and takes and returns token bytes.
 *
 * Samples of MAKEFLAGS (GNU make 4.3): " -j4 --jobserver-auth=3,4", "kw -j --jobserver-auth=3,4",
 * "n -j4 --jobserver-auth=3,4", " -j4 --jobserver-auth=3,4 -- CFLAGS=-O0"; 4.4:
 * fifo:/tmp/GMfifo123, and -2,-2 for a recipe that is not marked with `+`.
 *
 * The pipe is reopened through /proc/self/fd: that gives a file description of our own, which can
 * be non-blocking. Two processes can see the same byte; the one that comes second must not hang. */
#include "pool/jobserver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag/diag.h"
#include "os/file.h"
#include "os/thread.h"
#include "pool/pool.h"

/* Largest number that is taken for a descriptor. */
#define LARGEST_FD 2147483639

struct jobserver {
    enum jobserver_use use; /* JOBSERVER_OFF = nothing is reported at the end */
    enum jobserver_state state;
    int saved_errno;
    bool implicit_available;
    unsigned char *token_cursor; /* after the last byte held */
    int read_fd;                 /* our own; equal to write_fd for a fifo; -1 = none */
    int write_fd;
};

/* Tokens held, for the signal handler: fixed storage and one pointer. They change only while
 * signals are blocked, so that a handler misses no byte between pipe and table. */
static unsigned char held[JOBSERVER_MOST];
static _Atomic(struct jobserver *) current;

/* Takes a decimal number, which may be negative, off the front. */
static bool parse_fd(struct text *text, int *fd)
{
    bool negative = text_skip(text, TEXT("-"));
    uint64_t value;

    if (!text_scan_number(text, &value) || value > LARGEST_FD)
        return false;
    *fd = negative ? -(int)value : (int)value;
    return true;
}

static enum jobserver_state parse_value(struct text value, struct jobserver_auth *auth)
{
    *auth = (struct jobserver_auth){.read_fd = -1, .write_fd = -1};
    if (text_skip(&value, TEXT("fifo:"))) {
        auth->path = value;
        auth->kind = value.size ? JOBSERVER_FIFO : JOBSERVER_NONE;
    } else if (parse_fd(&value, &auth->read_fd) && text_skip(&value, TEXT(",")) &&
               parse_fd(&value, &auth->write_fd) && value.size == 0) {
        auth->kind = auth->read_fd < 0 || auth->write_fd < 0 ? JOBSERVER_DISABLED : JOBSERVER_PIPE;
    }
    return auth->kind == JOBSERVER_NONE ? JOBSERVER_NOT_OPEN : JOBSERVER_OK;
}

enum jobserver_state jobserver_parse(const char *makeflags, struct jobserver_auth *auth)
{
    enum jobserver_state state = JOBSERVER_NO_AUTH;
    struct text word;

    *auth = (struct jobserver_auth){.read_fd = -1, .write_fd = -1};
    if (!makeflags)
        return JOBSERVER_NO_MAKEFLAGS;
    word = (struct text){makeflags, strcspn(makeflags, " \t")};
    if (word.data[0] != '-' && !memchr(word.data, '=', word.size) &&
        memchr(word.data, 'n', word.size))
        return JOBSERVER_NO_AUTH;
    for (const char *at = makeflags; *(at += strspn(at, " \t")); at += word.size) {
        struct text value = word = (struct text){at, strcspn(at, " \t")};

        if (text_equal(word, TEXT("--")))
            break;
        if (text_skip(&value, TEXT("--jobserver-auth=")) ||
            text_skip(&value, TEXT("--jobserver-fds=")))
            state = parse_value(value, auth);
        if (state == JOBSERVER_NO_AUTH && text_equal(word, TEXT("-j1")))
            auth->kind = JOBSERVER_SERIAL;
    }
    return state;
}

/* Make also sets the variable for recipes that it passes no descriptors to; a file of ours can have
 * their numbers then. Descriptors from make are one pipe, and were inherited through exec. */
static bool is_inherited_pipe(const struct jobserver_auth *auth)
{
    int read_flags = fcntl(auth->read_fd, F_GETFL), write_flags = fcntl(auth->write_fd, F_GETFL);
    int read_close = fcntl(auth->read_fd, F_GETFD), write_close = fcntl(auth->write_fd, F_GETFD);
    struct stat reader, writer;

    if (read_flags < 0 || write_flags < 0 || read_close < 0 || write_close < 0 ||
        fstat(auth->read_fd, &reader) || fstat(auth->write_fd, &writer))
        return false;
    errno = EBADF;
    return S_ISFIFO(reader.st_mode) && reader.st_dev == writer.st_dev &&
           reader.st_ino == writer.st_ino && !((read_close | write_close) & FD_CLOEXEC) &&
           (read_flags & O_ACCMODE) != O_WRONLY && (write_flags & O_ACCMODE) != O_RDONLY;
}

static int reopen(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_NONBLOCK | O_CLOEXEC);
}

static bool open_fifo(struct jobserver *jobserver, struct text path)
{
    char name[PATH_MAX];
    struct stat status;

    if (path.size >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(name, path.data, path.size);
    name[path.size] = '\0';
    jobserver->read_fd = jobserver->write_fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (jobserver->read_fd < 0 || fstat(jobserver->read_fd, &status))
        return false;
    errno = EINVAL;
    return S_ISFIFO(status.st_mode);
}

static bool open_pipe(struct jobserver *jobserver, const struct jobserver_auth *auth)
{
    if (!is_inherited_pipe(auth))
        return false;
    jobserver->read_fd = reopen(auth->read_fd, O_RDONLY);
    jobserver->write_fd = reopen(auth->write_fd, O_WRONLY);
    return jobserver->read_fd >= 0 && jobserver->write_fd >= 0;
}

static void record_failure(struct jobserver *jobserver, enum jobserver_state state)
{
    if (jobserver->state == JOBSERVER_OK) {
        jobserver->state = state;
        jobserver->saved_errno = errno;
    }
}

struct jobserver *jobserver_open(const struct jobserver_auth *auth)
{
    struct jobserver *jobserver = malloc(sizeof *jobserver), *none = NULL;
    bool is_open;

    if (!jobserver)
        return NULL;
    *jobserver = (struct jobserver){.use = JOBSERVER_OFF,
                                    .implicit_available = true,
                                    .token_cursor = held,
                                    .read_fd = -1,
                                    .write_fd = -1};
    if (!atomic_compare_exchange_strong(&current, &none, jobserver)) {
        free(jobserver);
        return NULL;
    }
    errno = EINVAL;
    if (auth->kind == JOBSERVER_FIFO)
        is_open = open_fifo(jobserver, auth->path);
    else
        is_open = auth->kind == JOBSERVER_PIPE && open_pipe(jobserver, auth);
    if (!is_open)
        record_failure(jobserver, JOBSERVER_NOT_OPEN);
    return jobserver;
}

/* Warns once per process; of a recipe without '+' only if the jobserver was requested. */
static void report_broken(enum jobserver_use use, const char *why)
{
    static const char advice[] = "One chunk is assembled at a time; prefix the recipe with '+' so "
                                 "that make hands its jobserver on";
    static atomic_bool has_reported;

    if (atomic_exchange(&has_reported, true))
        return;
    if (use != JOBSERVER_ON) {
        diag_verbose("make's jobserver cannot be used: %s. %s", why, advice);
        return;
    }
    diag_caution("Jobserver requested, but an error occurred: %s", why);
    diag_note("%s", advice);
}

/* A client that jobserver_join() returned ends in no other state. */
static void report_end(enum jobserver_use use, enum jobserver_state state)
{
    static const char *const texts[] = {
        [JOBSERVER_SHORT_IO] = "its pipe has ended",
        [JOBSERVER_SHUT_DOWN] = "the process is ending",
        [JOBSERVER_IO_ERROR] = "a token could not be taken or given back",
        [JOBSERVER_BAD_RELEASE] = "a token was given back that was not held",
    };

    if (use == JOBSERVER_ON)
        diag_caution("Jobserver requested, but an error occurred: %s", texts[state]);
    else
        diag_verbose("make's jobserver failed: %s", texts[state]);
}

/* Reads what the environment names. False when make limits no jobs. */
static bool find_flag(struct jobserver_auth *auth, enum jobserver_state *state)
{
    *state = jobserver_parse(getenv("MAKEFLAGS"), auth);
    return auth->kind == JOBSERVER_SERIAL ||
           (*state != JOBSERVER_NO_MAKEFLAGS && *state != JOBSERVER_NO_AUTH);
}

bool jobserver_counts(enum jobserver_use use)
{
    struct jobserver_auth auth;
    enum jobserver_state state;

    return use != JOBSERVER_OFF && find_flag(&auth, &state);
}

struct jobserver *jobserver_join(enum jobserver_use use, uint32_t *threads)
{
    struct jobserver *jobserver = NULL;
    struct jobserver_auth auth;
    enum jobserver_state state;
    const char *why;

    if (use == JOBSERVER_OFF)
        return NULL;
    if (!find_flag(&auth, &state)) {
        if (use == JOBSERVER_ON)
            diag_caution("GNU Jobserver support requested, but no compatible jobserver found. "
                         "Ignoring '--jobserver'");
        return NULL;
    }
    /* An outer call's client holds the token for this one. */
    if (auth.kind == JOBSERVER_SERIAL || atomic_load(&current)) {
        *threads = 1;
        return NULL;
    }
    if (auth.kind == JOBSERVER_PIPE || auth.kind == JOBSERVER_FIFO)
        jobserver = jobserver_open(&auth);
    if (jobserver && jobserver->state == JOBSERVER_OK) {
        jobserver->use = use;
        return jobserver;
    }
    why = auth.kind == JOBSERVER_DISABLED    ? "make keeps its jobserver from this recipe"
          : state != JOBSERVER_OK            ? "its value in MAKEFLAGS is malformed"
          : !jobserver                       ? "it is in use"
          : jobserver->saved_errno == EINVAL ? "its path in MAKEFLAGS is no FIFO's"
                                             : strerror(jobserver->saved_errno);
    jobserver_close(jobserver);
    report_broken(use, why);
    *threads = 1;
    return NULL;
}

/* Takes a byte if there is one. Signals are blocked between reading it and storing it. */
static bool try_take(struct jobserver *jobserver)
{
    sigset_t before = thread_block_signals();
    ssize_t got = read(jobserver->read_fd, jobserver->token_cursor, 1);

    if (got == 1)
        jobserver->token_cursor++;
    else if (got == 0)
        record_failure(jobserver, JOBSERVER_SHORT_IO);
    else if (errno != EAGAIN && errno != EINTR)
        record_failure(jobserver, JOBSERVER_IO_ERROR);
    thread_restore_signals(before);
    return got == 1;
}

bool jobserver_acquire(struct jobserver *jobserver, int wake_fd)
{
    if (jobserver->implicit_available) {
        jobserver->implicit_available = false;
        return true;
    }
    for (;;) {
        bool may_take =
            jobserver->state == JOBSERVER_OK && jobserver->token_cursor < held + JOBSERVER_MOST;
        struct pollfd fds[] = {{.fd = wake_fd, .events = POLLIN},
                               {.fd = may_take ? jobserver->read_fd : -1, .events = POLLIN}};
        int ready = poll(fds, 2, -1);

        if (ready < 0 && errno != EINTR && errno != EAGAIN) {
            record_failure(jobserver, JOBSERVER_IO_ERROR);
            return false; /* the caller waits for `wake_fd` itself */
        }
        if (ready <= 0)
            continue;
        if (fds[0].revents)
            return false;
        if (fds[1].revents && try_take(jobserver))
            return true;
    }
}

enum jobserver_state jobserver_release(struct jobserver *jobserver)
{
    sigset_t before;

    if (!jobserver)
        return JOBSERVER_NO_CLIENT;
    before = thread_block_signals();
    if (jobserver->token_cursor > held) {
        /* Dropped even if it cannot be written: a second try would fail as well. A pipe has room
         * for bytes that were read from it. */
        if (!descriptor_write(jobserver->write_fd, --jobserver->token_cursor, 1))
            record_failure(jobserver, JOBSERVER_IO_ERROR);
    } else if (!jobserver->implicit_available) {
        jobserver->implicit_available = true;
    } else {
        record_failure(jobserver, JOBSERVER_BAD_RELEASE);
    }
    thread_restore_signals(before);
    return jobserver->state;
}

enum jobserver_state jobserver_close(struct jobserver *jobserver)
{
    struct jobserver ended;

    if (!jobserver)
        return JOBSERVER_OK;
    while (jobserver->token_cursor > held)
        jobserver_release(jobserver);
    atomic_store(&current, NULL);
    ended = *jobserver;
    free(jobserver);
    if (ended.read_fd >= 0)
        close(ended.read_fd);
    if (ended.write_fd >= 0 && ended.write_fd != ended.read_fd)
        close(ended.write_fd);
    if (ended.state != JOBSERVER_OK && ended.use != JOBSERVER_OFF)
        report_end(ended.use, ended.state);
    return ended.state;
}

void jobserver_return_all(void)
{
    struct jobserver *jobserver = atomic_load(&current);
    int saved = errno;

    if (!jobserver)
        return;
    while (jobserver->token_cursor > held)
        descriptor_write(jobserver->write_fd, --jobserver->token_cursor, 1);
    record_failure(jobserver, JOBSERVER_SHUT_DOWN);
    errno = saved;
}

/* The link's own jobserver: a pipe, its name in MAKEFLAGS, and which thread runs which child. */

/* A prefix that make's own value never has: that begins with letters or a blank. */
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
