/* diag_state.c: the part of a thread's context that is about messages. */
#include "diag/diag_state.h"

#include "base/context.h"

_Static_assert(sizeof(struct diag_state) <= CONTEXT_STATE_SIZE, "a context has room for it");

static struct diag_state *state_of(struct context *context)
{
    return context ? (struct diag_state *)(void *)context->state : NULL;
}

struct diag_state *diag_state_open(void)
{
    return state_of(context_open());
}

struct diag_state *diag_state_get(void)
{
    return state_of(context_get());
}

void diag_state_inherit(const struct diag_state *from)
{
    struct diag_state *state = diag_state_get();
    const struct diag_state own = *state;

    *state = *from;
    state->has_warning_or_error = state->has_fatal_error = false;
    state->error_count = 0;
    state->continuation = own.continuation;
    state->sink = own.sink;
    state->writer = own.writer;
    state->record = own.record;
    state->tally = own.tally;
    state->event_thread = own.events == from->events ? own.event_thread : NULL;
}
