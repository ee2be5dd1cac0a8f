/* builtin.c: the built-in assembler's side of the interface: a job in, a cubin and a log out.
 *
 * The work is done by the driver's phases (driver.c). Everything that a chunk needs is in one
 * struct unit, which the last of them empties whatever happens, running out of memory included. */
#include "toy/builtin.h"

#include <stdlib.h>

#include "base/context.h"
#include "diag/diag.h"
#include "toy/driver.h"
#include "toy/unit.h"

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

/* How the thread reports: the log has one form, whatever the user wants to see in the end. */
static struct context set_reporting(const struct context *wanted)
{
    struct context *context = context_get();
    struct context old = {
        .sink = context->sink,
        .program = context->program,
        .report_arch = context->report_arch,
        .error_count = context->error_count,
        .format = context->format,
        .color = context->color,
        .annotate = context->annotate,
        .suppress_warnings = context->suppress_warnings,
        .warnings_are_errors = context->warnings_are_errors,
        .has_warning_or_error = context->has_warning_or_error,
        .has_fatal_error = context->has_fatal_error,
    };
    context->sink = wanted->sink;
    context->program = wanted->program;
    context->report_arch = wanted->report_arch;
    context->error_count = wanted->error_count;
    context->format = wanted->format;
    context->color = wanted->color;
    context->annotate = wanted->annotate;
    context->suppress_warnings = wanted->suppress_warnings;
    context->warnings_are_errors = wanted->warnings_are_errors;
    context->has_warning_or_error = wanted->has_warning_or_error;
    context->has_fatal_error = wanted->has_fatal_error;
    return old;
}

/* What the job's two bytes say of it, where its phases have gone through. */
static enum link_code verdict(enum link_code code)
{
    const struct context *context = context_get();
    if (code != LINK_OK)
        return code;
    return context->has_fatal_error        ? LINK_FAILED
           : context->has_warning_or_error ? LINK_WARNED
                                           : LINK_OK;
}

static int assemble(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    (void)state;
    struct diag_sink sink = {0};
    const struct context *context = context_get();
    const struct context log = {.sink = &sink,
                                .program = PROGRAM,
                                .format = DIAG_FORM_GNU,
                                .suppress_warnings = context->suppress_warnings,
                                .warnings_are_errors = context->warnings_are_errors};
    const struct context outer = set_reporting(&log);
    struct unit unit = {.job = job};
    struct answer answer = {.unit = &unit, .sink = &sink, .result = result};
    answer.code = verdict(driver_run(&unit));
    set_reporting(&outer);
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
