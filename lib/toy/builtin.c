/* builtin.c: the built-in assembler's side of the interface: a job in, a cubin and a log out.
 *
 * The work is done by the driver's phases (driver.c). Everything that a chunk needs is in one
 * struct unit, which the last of them empties whatever happens, running out of memory included. */
#include "toy/builtin.h"

#include "base/context.h"
#include "diag/diag.h"
#include "toy/phases.h"

#define PROGRAM "builtin"

/* What is handed to the caller; made under a recovery point of its own. */
struct answer {
    struct unit *unit;
    struct diag_sink *sink;
    struct minilink_result *result;
    enum link_code code;
};

static enum link_code give_answer(void *argument)
{
    struct answer *answer = argument;

    if (answer->sink->text.size)
        answer->result->log = buffer_take(&answer->sink->text, NULL);
    if (answer->code == LINK_OK || answer->code == LINK_WARNED)
        answer->result->cubin = buffer_take(&answer->unit->cubin, &answer->result->cubin_size);
    return answer->code;
}

/* Puts messages into the log, which has one form whatever the user wants to see in the end. */
static void report_into(struct diag_state *state, struct diag_sink *log)
{
    state->sink = log;
    state->program = PROGRAM;
    state->report_arch = NULL;
    state->error_count = 0;
    state->format = DIAG_FORM_GNU;
    state->color = state->annotate = false;
    state->has_warning_or_error = state->has_fatal_error = false;
}

/* What the job's two bytes say of it, where its phases have gone through. */
static enum link_code verdict(enum link_code code)
{
    const struct diag_state *state = diag_state_get();

    if (code != LINK_OK)
        return code;
    return state->has_fatal_error        ? LINK_FAILED
           : state->has_warning_or_error ? LINK_WARNED
                                         : LINK_OK;
}

static int assemble(void *unused, const struct minilink_job *job, struct minilink_result *result)
{
    (void)unused;
    struct diag_sink sink = {0};
    struct diag_state *state = diag_state_get();
    struct diag_state outer = *state;
    struct unit unit = {.job = job};
    struct answer answer = {.unit = &unit, .sink = &sink, .result = result};
    report_into(state, &sink);
    answer.code = verdict(driver_run(&unit));
    outer.event_thread = state->event_thread; /* which is the thread's once it has one */
    *state = outer;
    enum link_code code = context_run(give_answer, &answer);
    buffer_free(&unit.cubin);
    diag_sink_free(&sink);
    return (int)code;
}

const struct minilink_assembler builtin_assembler = {
    .abi = MINILINK_ASSEMBLER_ABI,
    .name = PROGRAM,
    .version = "encoding 1",
    .assemble = assemble,
};
