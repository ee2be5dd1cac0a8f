/* context.c: thread-specific contexts, kept in a list of live ones and recycled on thread exit. */
#include "base/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* a process has a thousand, which others may have taken */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct context *live; /* guarded by list_mutex */
/* The first thread's context needs no memory, so that it can always be told that there is none. */
static struct context first;
static struct context *recycled = &first; /* guarded by list_mutex */

/* Diagnostics need a context, so this one failure is written without them. */
static _Noreturn void die(const char *why)
{
    fputs(why, stderr);
    abort();
}

static void destroy(void *argument)
{
    struct context *context = argument;

    pthread_mutex_lock(&list_mutex);
    if (context->previous)
        context->previous->next = context->next;
    else
        live = context->next;
    if (context->next)
        context->next->previous = context->previous;
    context->next = recycled;
    recycled = context;
    pthread_mutex_unlock(&list_mutex);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, destroy) == 0;
}

/* A context for the calling thread, not yet in the list; NULL when memory runs out. */
static struct context *new_context(void)
{
    struct context *context;

    pthread_mutex_lock(&list_mutex);
    context = recycled;
    if (context)
        recycled = context->next;
    pthread_mutex_unlock(&list_mutex);
    if (!context)
        context = malloc(sizeof *context);
    if (!context)
        return NULL;
    memset(context, 0, sizeof *context);
    if (pthread_setspecific(key, context) == 0)
        return context;
    if (context != &first)
        free(context);
    return NULL;
}

struct context *context_open(void)
{
    struct context *context;

    pthread_once(&once, make_key);
    if (!has_key)
        return NULL;
    context = pthread_getspecific(key);
    if (context)
        return context;
    context = new_context();
    if (!context)
        return NULL;
    pthread_mutex_lock(&list_mutex);
    context->next = live;
    if (live)
        live->previous = context;
    live = context;
    pthread_mutex_unlock(&list_mutex);
    return context;
}

struct context *context_get(void)
{
    struct context *context = context_open();

    if (!context)
        die("minilink fatal   : out of memory\n");
    return context;
}

/* Its place in the list is others' to change. */
static void replace(struct context *context, const struct context *with)
{
    struct context *previous, *next;

    pthread_mutex_lock(&list_mutex);
    previous = context->previous;
    next = context->next;
    *context = *with;
    context->previous = previous;
    context->next = next;
    pthread_mutex_unlock(&list_mutex);
}

bool context_enter(struct context *saved)
{
    static const struct context none;
    struct context *context = context_open();

    if (!context)
        return false;
    pthread_mutex_lock(&list_mutex); /* its place in the list is read, too */
    *saved = *context;
    pthread_mutex_unlock(&list_mutex);
    replace(context, &none);
    return true;
}

void context_leave(const struct context *saved)
{
    replace(context_get(), saved);
}

enum link_code context_run(enum link_code (*function)(void *argument), void *argument)
{
    struct context *context = context_get(); /* not changed behind setjmp, as the next two */
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
    /* What they clean up lives in frames that are still there. */
    while (context->cleanups)
        context_clean(context->cleanups);
    longjmp(*context->recovery, (int)code);
}

size_t context_count_live(void)
{
    size_t count = 0;

    pthread_mutex_lock(&list_mutex);
    for (const struct context *context = live; context; context = context->next)
        count++;
    pthread_mutex_unlock(&list_mutex);
    return count;
}

void context_shutdown(void)
{
    struct context *context;
    bool has_first = false;

    pthread_once(&once, make_key);
    context = has_key ? pthread_getspecific(key) : NULL;
    if (context) {
        pthread_setspecific(key, NULL);
        destroy(context);
    }
    pthread_mutex_lock(&list_mutex);
    while (recycled) {
        struct context *next = recycled->next;

        if (recycled == &first)
            has_first = true;
        else
            free(recycled);
        recycled = next;
    }
    if (has_first) {
        first.next = NULL;
        recycled = &first;
    }
    pthread_mutex_unlock(&list_mutex);
}
