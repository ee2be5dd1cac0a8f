/* context.h: per-thread state: the recovery point, and room for the state of diagnostics.
 *
 * context_run() installs a recovery point and calls a function; context_raise() unwinds to the
 * innermost one. Each thread has a context, which only it touches, with those parts of ptxas's
 * 280-byte context (minilink-internals(7), Assembler threading) that minilink uses: the condition,
 * the mutex and the semaphores there serve ptxas's pool; minilink wakes its own as pool.h says. */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that a context has for the state of diagnostics (diag/diag.h). */
#define CONTEXT_STATE_SIZE 128

/* Result codes. 0 to 13 are the elfLink codes (minilink-internals(7), Result codes); those without
 * a known meaning there are left out. Codes from 64 on are ours. */
enum link_code {
    LINK_OK = 0,
    LINK_INTERNAL = 1,        /* internal error; or, beside a cubin: */
    LINK_WARNED = 1,          /* success with a warning */
    LINK_CUBIN = 2,           /* the assembler's output is damaged */
    LINK_FAILED = 5,          /* assembling failed */
    LINK_NVVM_ERROR = 7,      /* libnvvm refused the program */
    LINK_NOT_RELOCATABLE = 8, /* the assembler's output is not a relocatable cubin */
    LINK_WRONG_TARGET = 10,   /* it is for another target */
    LINK_NO_MEMORY = 64,
    LINK_CANCELLED = 65,   /* given up because another chunk failed or a signal came */
    LINK_ENVIRONMENT = 66, /* no process, no file; the cause has been reported */
    LINK_USAGE = 67,       /* the options are wrong, which has been reported */
};

/* A function to call when a block ends or the thread unwinds; see CONTEXT_DEFER. */
struct context_cleanup {
    void (*function)(void *argument);
    void *argument;
    struct context_cleanup *outer;
};

struct context {
    jmp_buf *recovery;                /* innermost recovery point, or NULL */
    struct context_cleanup *cleanups; /* innermost since the recovery point, or NULL */
    _Alignas(max_align_t) unsigned char state[CONTEXT_STATE_SIZE]; /* zero at first */
};

/* The calling thread's context. */
struct context *context_get(void);

/* Calls function(argument) under a new recovery point. Returns its result, or the code of a
 * context_raise() inside. Nests. */
enum link_code context_run(enum link_code (*function)(void *argument), void *argument);

/* Calls function(argument) when the enclosing block ends, or when something is raised before that:
 * for memory and descriptors that nobody else would free or close. The last one is called first. */
#define CONTEXT_DEFER(function, argument)                                                          \
    struct context_cleanup CONTEXT_CLEANUP(__LINE__) __attribute__((cleanup(context_clean)));      \
    context_defer(&CONTEXT_CLEANUP(__LINE__), (function), (argument))
#define CONTEXT_CLEANUP(line)      CONTEXT_CLEANUP_NAME(line)
#define CONTEXT_CLEANUP_NAME(line) context_cleanup_##line

/* The two halves of CONTEXT_DEFER: the first pushes the caller's *cleanup; the second pops and
 * calls it, and it must be the one that was pushed last. */
void context_defer(struct context_cleanup *cleanup, void (*function)(void *), void *argument);
void context_clean(struct context_cleanup *cleanup);

/* Unwinds the calling thread to its innermost recovery point, whose context_run returns `code`.
 * Without a recovery point it says so on stderr and aborts. `code` is not LINK_OK. */
_Noreturn void context_raise(enum link_code code);
