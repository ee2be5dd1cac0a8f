/* context.h: what belongs to one thread: its diagnostics' state, its recovery point, its arena.
 *
 * Properties. Every thread that reports or allocates has one context, made on first use and found
 * through a thread-specific key. Its 280 bytes have the layout of ptxas's own context (spec:
 * ptxas-threading, TLS Context Layout), so that each field of that description has its place here.
 *
 * Operation. context_run() installs a recovery point and calls a function; context_raise() unwinds
 * to the innermost one. Workers copy the link thread's flags with context_inherit().
 *
 * Safety. A context is only touched by its own thread; the list of live ones is locked. */
#ifndef MINILINK_BASE_CONTEXT_H
#define MINILINK_BASE_CONTEXT_H

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diag_sink;

/* Result codes. 0 to 13 are the elfLink codes (spec: nvlink-split-compilation, Return codes); those
 * without a known meaning there are left out. Codes from 64 on are ours. */
enum link_code {
    LINK_OK = 0,
    LINK_INTERNAL = 1,        /* internal error, or success with a warning */
    LINK_FAILED = 5,          /* assembling failed */
    LINK_NVVM_ERROR = 7,      /* libnvvm refused the program */
    LINK_NOT_RELOCATABLE = 8, /* the assembler's output is not a relocatable cubin */
    LINK_NO_MEMORY = 64,
    LINK_CANCELLED = 65,   /* given up because another chunk failed or a signal came */
    LINK_ENVIRONMENT = 66, /* no process, no file; what is wrong has been reported */
};

/* Something to be done when the thread unwinds; see context_defer. */
struct context_cleanup {
    void (*function)(void *argument);
    void *argument;
    struct context_cleanup *outer;
};

struct context {
    bool has_warning_or_error; /* a message of severity > 2 was reported */
    bool has_fatal_error;      /* a message of severity > 4 was reported */
    uint8_t pad0[6];
    jmp_buf *recovery;            /* innermost recovery point, or NULL */
    const char *error_descriptor; /* what was raised, for the recovery point */
    struct arena *arena;          /* per-thread arena, or NULL */
    const char *program;          /* name in front of messages; NULL = "minilink" */
    const char *suffix;           /* text behind messages, or NULL */
    bool suppress_infos;
    bool suppress_warnings;
    bool warnings_are_errors;
    bool annotate;     /* put @E@, @W@, @I@ in front of messages */
    bool continuation; /* next line continues a message: no prefix */
    bool verbose;      /* -v; the description leaves bytes 53 to 127 unassigned */
    bool gnu_format;   /* --diagnostics-format=gnu */
    uint8_t pad1;
    struct diag_sink *sink;           /* where messages are collected; NULL = print them */
    const char *report_arch;          /* " (target: sm_90)" for -report-arch, or NULL */
    uint64_t error_count;             /* errors and fatal errors reported by this thread */
    struct context_cleanup *cleanups; /* innermost since the recovery point, or NULL */
    uint8_t pad2[40];
    pthread_cond_t condition;
    pthread_mutex_t mutex;
    sem_t semaphore;
    sem_t *exit_semaphore;    /* posted when the thread's context is destroyed, or NULL */
    struct context *previous; /* in the list of live contexts, or of recycled ones */
    struct context *next;
    bool destroyed;
    uint8_t pad3[7];
};

#if defined(__x86_64__) && defined(__linux__) && defined(__LP64__)
_Static_assert(sizeof(struct context) == 280, "spec: ptxas-threading, 280-byte context");
_Static_assert(offsetof(struct context, recovery) == 8, "recovery target");
_Static_assert(offsetof(struct context, arena) == 24, "per-thread allocator");
_Static_assert(offsetof(struct context, suppress_infos) == 48, "info suppression flag");
_Static_assert(offsetof(struct context, condition) == 128, "condition variable");
_Static_assert(offsetof(struct context, mutex) == 176, "mutex");
_Static_assert(offsetof(struct context, semaphore) == 216, "semaphore");
_Static_assert(offsetof(struct context, previous) == 256, "list of live contexts");
_Static_assert(offsetof(struct context, destroyed) == 272, "destroyed flag");
#endif

/* The calling thread's context, made on first use, or NULL when there is no memory for it. The
 * first thread always gets one. Other threads call this before anything that may report or
 * allocate. */
struct context *context_open(void);

/* The same for a thread that can have one. Ends the program when that is impossible. */
struct context *context_get(void);

/* Gives the calling thread the reporting flags of `from`; its error state starts clean. */
void context_inherit(const struct context *from);

/* Calls function(argument) under a new recovery point. Returns what it returns, or the code with
 * which context_raise was called inside. Nests. */
enum link_code context_run(enum link_code (*function)(void *argument), void *argument);

/* Has function(argument) called when something is raised before the matching context_clean(), while
 * the caller's variables still live: for malloc'ed memory that only they know. *cleanup is the
 * caller's, and nests with others. */
void context_defer(struct context_cleanup *cleanup, void (*function)(void *argument),
                   void *argument);

/* Takes the cleanup that was deferred last off again and calls it. */
void context_clean(struct context_cleanup *cleanup);

/* Unwinds the calling thread to its innermost recovery point, whose context_run returns `code`.
 * Without a recovery point it says so on stderr and aborts. `code` is not LINK_OK. */
_Noreturn void context_raise(enum link_code code);

/* The number of live contexts, for tests of leaks. */
size_t context_count_live(void);

/* Destroys the calling thread's context and frees all recycled ones, for leak checkers. */
void context_shutdown(void);

#endif
