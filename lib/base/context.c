/* context.c: a context for each thread, in its own storage: to have one needs no memory. */
#include "base/context.h"

#include <stdio.h>
#include <stdlib.h>

struct context *context_get(void)
{
    static _Thread_local struct context context;

    return &context;
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

void context_defer(struct context_cleanup *cleanup, void (*function)(void *), void *argument)
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

    if (!context->recovery) { /* nor can diagnostics be used */
        fputs(code == LINK_NO_MEMORY ? "minilink fatal   : out of memory\n"
                                     : "minilink fatal   : unrecoverable error\n",
              stderr);
        abort();
    }
    /* The stack frames that hold what they clean up still exist. */
    while (context->cleanups)
        context_clean(context->cleanups);
    longjmp(*context->recovery, (int)code);
}
