/* report.c: turns the library's own severity prefixes into message severities. */
#include "lto/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "diag/diag.h"
#include "diag/events.h"

/* Takes the library's name of an input off the front of *text. */
static bool take_input_name(struct text *text, size_t count, uint64_t *index)
{
    struct text name = *text;

    if (name.size < NVJITLINK_INPUT_NAME_SIZE)
        return false;
    name.size = NVJITLINK_INPUT_NAME_SIZE;
    if (!text_skip(&name, TEXT(NVJITLINK_INPUT_NAME_HEAD)) || !text_scan_number(&name, index) ||
        name.size > 0 || *index >= count)
        return false;
    *text = text_drop(*text, NVJITLINK_INPUT_NAME_SIZE);
    return true;
}

static void restore_names(struct buffer *out, struct text line, const struct job_inputs *inputs)
{
    uint64_t index;

    while (line.size > 0) {
        if (take_input_name(&line, inputs->count, &index)) {
            buffer_string(out, inputs->list[index].member->name);
            continue;
        }
        buffer_char(out, line.data[0]);
        line = text_drop(line, 1);
    }
}

/* From 13.4 on libnvJitLink tells of the LTO-IR that it makes beside PTX, "NVVM70 LTOIR Container
 * created (2536 bytes)", or "Solid LTOIR ..." of libnvvm's for sm_100 and later. nvlink does not
 * print it; -v does. */
#define PROGRESS " LTOIR Container created ("

static const char *library_name(const struct part_list *run)
{
    return run->inputs.is_bitcode ? "libLLVM" : "libnvJitLink";
}

/* Reports one line of a log; the library's own "ERROR: " and the like become the severity. */
static void report_library_line(const struct part_list *run, struct text line, bool is_error)
{
    static const struct text heads[] = {TEXT("ERROR: "),   TEXT("ERROR in "), TEXT("ERROR "),
                                        TEXT("WARNING: "), TEXT("INFO: "),    TEXT("SUCCESS: ")};
    bool is_warning = text_starts(line, TEXT("WARNING")) || text_starts(line, TEXT("warning"));
    const char *name = library_name(run);
    LOCAL_BUFFER(named);

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (text_skip(&line, heads[i]))
            break;
    restore_names(&named, line, &run->inputs);
    line = buffer_view(&named);
    if (is_warning)
        diag_warning("%s: %.*s", name, TEXT_ARG(line));
    else if (is_error)
        diag_error("%s: %.*s", name, TEXT_ARG(line));
    else if (memmem(line.data, line.size, PROGRESS, strlen(PROGRESS)))
        diag_summary("%s: %.*s", name, TEXT_ARG(line));
    else
        diag_info("%s: %.*s", name, TEXT_ARG(line));
}

/* Reports the lines of one of the library's texts that no part has reported before. */
static void report_log(struct part_list *run, struct text log, bool is_error)
{
    struct text line;

    while (text_scan_line(&log, &line)) {
        if (line.size > 0 && line.data[line.size - 1] == '\r')
            line.size--;
        if (text_drop_blanks(line).size > 0 && table_find(&run->said, line) == TABLE_NONE) {
            table_set(&run->said, arena_text(&run->arena, line), 0);
            report_library_line(run, line, is_error);
        }
    }
}

/* The library's output on the standard descriptors, which should be empty. */
static struct text output_of(const struct part *part)
{
    return (struct text){part->result.output, part->result.output_size};
}

void lto_report_logs(struct part_list *run, const struct part *part)
{
    report_log(run, output_of(part), false);
    report_log(run, part->answer.errors, false);
    report_log(run, part->answer.infos, false);
}

static void report_death(const struct part_list *run, const struct exec_result *result,
                         const char *when)
{
    const char *name = library_name(run), *library = run->link->library;
    char end[128];

    if (result->end == EXEC_NOT_STARTED)
        diag_fatal("Could not run minilink, for %s '%s': %s", name, library,
                   strerror(result->code));
    else if (result->end == EXEC_EXITED)
        diag_fatal("%s '%s' ended its process with status %d%s", name, library, result->code, when);
    else
        diag_fatal("%s '%s' %s%s", name, library, exec_describe_end(result, end, sizeof end), when);
    if (result->end == EXEC_SIGNALED && result->code == SIGKILL)
        diag_note("It had %" PRIu64 " MiB; where memory ran out, --memory-limit= lets fewer run at "
                  "a time",
                  result->peak >> 20);
    if (!run->inputs.is_bitcode)
        diag_note("--lto-source=ptx links the PTX beside the LTO-IR instead");
    if (result->end == EXEC_NOT_STARTED ||
        (result->end == EXEC_SIGNALED && result->code == SIGXFSZ))
        context_raise(LINK_ENVIRONMENT);
}

bool lto_report_end(struct part_list *run, const struct part *part, const char *when)
{
    const struct exec_result *result = &part->result;
    const struct lto_answer *answer = &part->answer;
    bool has_ended_well = result->end == EXEC_EXITED && result->code == LTO_CHILD_ANSWERED;

    if ((result->end == EXEC_NOT_STARTED && result->code == ENOMEM) ||
        (result->end == EXEC_EXITED && result->code == LTO_CHILD_NO_MEMORY))
        context_raise(LINK_NO_MEMORY);
    report_log(run, output_of(part), true);
    if (!has_ended_well || !answer->errors.data) {
        report_death(run, result, when);
        return false;
    }
    if (answer->head.step == LTO_STEP_LOAD) {
        diag_fatal("Could not load %s '%s': %.*s", library_name(run), run->link->library,
                   TEXT_ARG(answer->errors));
        context_raise(LINK_ENVIRONMENT);
    }
    report_log(run, answer->errors, true);
    return true;
}

void lto_report_event(const struct part *part, const char *name)
{
    events_record(&(struct event){.kind = EVENT_PART,
                                  .name = text_of(name),
                                  .start = part->started,
                                  .end = part->started + part->nanoseconds,
                                  .peak = part->result.peak,
                                  .is_apart = true});
}
