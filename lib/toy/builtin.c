/* builtin.c: the built-in assembler's side of the interface: a job in, a cubin and a log out.
 *
 * The driver's phases do the work (driver.c). All state of a chunk is in one struct unit, which the
 * last phases free in any case, even if memory runs out. */
#include "toy/builtin.h"

#include "base/context.h"
#include "diag/diag.h"
#include "toy/phases.h"

/* The result for the caller; made under a recovery point of its own. */
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

/* Writes messages into the log, whose format does not depend on the user's output options. */
static void report_into(struct diag_state *state, struct diag_sink *log)
{
    state->sink = log;
    state->program = BUILTIN_NAME;
    state->report_arch = NULL;
    state->error_count = 0;
    state->format = DIAG_FORM_GNU;
    state->color = state->annotate = false;
    state->has_warning_or_error = state->has_fatal_error = false;
}

/* The outcome, from the two flags of the diagnostic state, if all phases succeeded. */
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
    outer.event_thread = state->event_thread; /* belongs to the thread once it is set */
    *state = outer;
    enum link_code code = context_run(give_answer, &answer);
    buffer_free(&unit.cubin);
    diag_sink_free(&sink);
    return (int)code;
}

const struct minilink_assembler builtin_assembler = {
    .abi = MINILINK_ASSEMBLER_ABI,
    .name = BUILTIN_NAME,
    .version = BUILTIN_VERSION,
    .assemble = assemble,
};
