/* context.c: thread-specific contexts, made on first use and freed as their threads end. */
#include "base/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* a process has a thousand keys; others may have taken all */
/* Static, so that the first thread can report a lack of memory. */
static struct context first;
static atomic_flag first_is_taken = ATOMIC_FLAG_INIT;

/* Diagnostics need a context, so this one failure is written without them. */
static _Noreturn void die(const char *why)
{
    fputs(why, stderr);
    abort();
}

static void destroy_context(void *context)
{
    if (context == &first)
        atomic_flag_clear(&first_is_taken);
    else
        free(context);
}

static void make_context_key(void)
{
    has_key = pthread_key_create(&key, destroy_context) == 0;
}

struct context *context_open(void)
{
    struct context *context;

    pthread_once(&once, make_context_key);
    if (!has_key)
        return NULL;
    context = pthread_getspecific(key);
    if (context)
        return context;
    context = atomic_flag_test_and_set(&first_is_taken) ? malloc(sizeof *context) : &first;
    if (!context)
        return NULL;
    *context = (struct context){0};
    if (pthread_setspecific(key, context) == 0)
        return context;
    destroy_context(context);
    return NULL;
}

struct context *context_get(void)
{
    struct context *context = context_open();

    if (!context)
        die("minilink fatal   : out of memory\n");
    return context;
}

enum link_code context_run(enum link_code (*function)(void *argument), void *argument)
{
    struct context *context = context_get(); /* like the next two, not changed after setjmp */
    jmp_buf *outer = context->recovery;
    struct context_cleanup *outer_cleanups = context->cleanups;
    jmp_buf here;
    int raised;

    raised = setjmp(here);
    if (raised == 0) {
        context->recovery = &here;
        context->cleanups = NULL;
        raised = (int)function(argument);
    }
    context->recovery = outer;
    context->cleanups = outer_cleanups;
    return (enum link_code)raised;
}

void context_defer(struct context_cleanup *cleanup, void (*function)(void *argument),
                   void *argument)
{
    struct context *context = context_get();

    *cleanup = (struct context_cleanup){function, argument, context->cleanups};
    context->cleanups = cleanup;
}

void context_clean(struct context_cleanup *cleanup)
{
    context_get()->cleanups = cleanup->outer;
    cleanup->function(cleanup->argument);
}

_Noreturn void context_raise(enum link_code code)
{
    struct context *context = context_get();

    if (!context->recovery)
        die(code == LINK_NO_MEMORY ? "minilink fatal   : out of memory\n"
                                   : "minilink fatal   : unrecoverable error\n");
    /* The stack frames that hold what they clean up still exist. */
    while (context->cleanups)
        context_clean(context->cleanups);
    longjmp(*context->recovery, (int)code);
}

void context_shutdown(void)
{
    struct context *context;

    pthread_once(&once, make_context_key);
    context = has_key ? pthread_getspecific(key) : NULL;
    if (context) {
        pthread_setspecific(key, NULL);
        destroy_context(context);
    }
}
