/* exec.h: child processes: the only place that starts any.
 *
 * Properties. A child leads a process group of its own, with no signal blocked or ignored,
 * /dev/null as standard input, and no descriptor of ours but those named. Its output is kept up to
 * a limit. Nothing outlives the call: not the child, not its group, not a descriptor; but for
 * children that are only being taken down by the kernel, which takes milliseconds for one with a
 * large library: they stay for exec_reap_all(). Safety. Called by many threads at once. Running
 * groups are in a table that a signal handler can walk without locks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXEC_VARIABLES 2
#define EXEC_SAYS_END  "MINILINK_SAYS_END"

struct exec_request {
    const char *const *argv; /* argv[0] is the path; ends with NULL */
    /* When set, this runs in a fork of this process instead of a program, and its result is the
     * exit status: for foreign code that may crash, print or never return; with one thread only. */
    int (*call)(void *argument);
    void *argument;
    const char *variables[EXEC_VARIABLES]; /* "NAME=value", for the child's environment alone;
                                              NULL = none, or no more */
    /* The program's malloc uses large pages, as far as glibc and the kernel support them, unless
     * GLIBC_TUNABLES is set already: for a program that allocates much in a short time. */
    bool large_pages;
    int input;       /* the program's standard input; 0 = /dev/null. Not for a call */
    const int *pass; /* descriptors that the child gets */
    /* Their numbers in the child, which no later one of `pass` may have; NULL = the same. */
    const int *pass_as;
    size_t pass_count;
    /* The program's stack, heap and libraries are at the same addresses each time, where the kernel
     * permits that: for programs whose output depends on the order of addresses. Not for a call. */
    bool fixed_addresses;
    size_t output_limit; /* most bytes of output that are kept; the rest is dropped */
    unsigned timeout;    /* seconds after which the group is killed; 0 = never */
    bool is_asked_first; /* the group gets SIGTERM and a moment to end what it has begun
                            elsewhere, before it is killed */
    bool says_end;       /* the program ends by exec_say_end(): it has the variable EXEC_SAYS_END */
    const volatile int *cancelled; /* when it becomes non-zero the group is killed; may be NULL */
};

enum exec_end {
    EXEC_EXITED,      /* `code` is the exit status */
    EXEC_SIGNALED,    /* `code` is the signal */
    EXEC_CANCELLED,   /* killed, because *cancelled was set or exec_kill_all called */
    EXEC_TIMED_OUT,   /* killed after request->timeout seconds, which `code` repeats */
    EXEC_NOT_STARTED, /* `code` is the errno */
};

struct exec_result {
    enum exec_end end;
    int code;
    char *output; /* of both outputs as it came, NUL-terminated, malloc'ed; NULL = none */
    size_t output_size;
    bool output_cut; /* there was more than the limit, or than memory for it */
    uint64_t peak; /* peak memory in bytes (ru_maxrss), by Linux's count at least what this process
                      had when it started the child; 0 = not known */
};

/* Runs a program and waits for its end. The caller frees result->output in every case. */
void exec_run(const struct exec_request *request, struct exec_result *result);

/* How a child ended, in words that follow its name, in `text`; NULL when it succeeded. */
const char *exec_describe_end(const struct exec_result *result, char *text, size_t size);

/* Waits for all children that were left, and reaps them. */
void exec_reap_all(void);

/* In a child of a request with `says_end`: tells the parent the exit status and the peak memory, by
 * standard output, and closes that and standard error. The caller then exits at once. */
void exec_say_end(int status);

/* Kills every running group, and makes every later exec_run of this process end as cancelled.
 * Async-signal-safe: for handlers of SIGINT and SIGTERM that end the program. */
void exec_kill_all(void);
