/* report.c: the library's own words lose their heads, which become severities. */
#include "lto/report.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"

static bool starts_with(struct text line, const char *word)
{
    return text_starts(line, text_of(word));
}

static bool is_blank(struct text line)
{
    for (size_t i = 0; i < line.size; i++)
        if (!strchr(" \t\r", line.data[i]))
            return false;
    return true;
}

/* One line of a log; the library's own "ERROR: " and the like become the severity. */
static void report_line(struct text line, bool is_error)
{
    static const char *const heads[] = {"ERROR: ", "ERROR in ", "ERROR ", "WARNING: ", "INFO: "};
    bool is_warning = starts_with(line, "WARNING") || starts_with(line, "warning");

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!starts_with(line, heads[i]))
            continue;
        line.data += strlen(heads[i]);
        line.size -= strlen(heads[i]);
        break;
    }
    if (is_warning)
        diag_warning("libnvJitLink: %.*s", TEXT_ARG(line));
    else if (is_error)
        diag_error("libnvJitLink: %.*s", TEXT_ARG(line));
    else
        diag_info("libnvJitLink: %.*s", TEXT_ARG(line));
}

void lto_report_log(struct text log, bool is_error, struct table *said)
{
    while (log.size > 0) {
        const char *newline = memchr(log.data, '\n', log.size);
        size_t size = newline ? (size_t)(newline - log.data) : log.size;
        struct text line = {log.data, size};

        if (line.size > 0 && line.data[line.size - 1] == '\r')
            line.size--;
        if (!is_blank(line) && (!said || table_find(said, line) == TABLE_NONE)) {
            report_line(line, is_error);
            if (said)
                table_set(said, line, 0);
        }
        size += newline != NULL;
        log = (struct text){log.data + size, log.size - size};
    }
}

/* What the library wrote to the standard descriptors, which it should not. */
static void report_output(const struct part *part)
{
    if (part->result.output)
        lto_report_log((struct text){part->result.output, part->result.output_size}, true, NULL);
}

void lto_report_death(const char *library, const struct part *part)
{
    const struct exec_result *result = &part->result;

    report_output(part);
    if (result->end == EXEC_SIGNALED)
        diag_fatal("libnvJitLink '%s' was killed by signal %d (%s)", library, result->code,
                   strsignal(result->code));
    else if (result->end == EXEC_TIMED_OUT)
        diag_fatal("libnvJitLink '%s' was killed, as it took more than %d s (--lto-timeout)",
                   library, result->code);
    else if (result->end == EXEC_NOT_STARTED)
        diag_fatal("Could not run libnvJitLink '%s': %s", library, strerror(result->code));
    else
        diag_fatal("libnvJitLink '%s' ended its process with status %d", library, result->code);
    if (result->end == EXEC_SIGNALED && result->code == SIGKILL)
        diag_note("It had %" PRIu64 " MiB; where memory ran out, --memory-limit= lets fewer run at "
                  "a time",
                  result->peak >> 20);
    diag_note("--lto-source=ptx links the PTX beside the LTO-IR instead");
    if (result->end == EXEC_NOT_STARTED ||
        (result->end == EXEC_SIGNALED && result->code == SIGXFSZ))
        context_raise(LINK_ENVIRONMENT);
}

void lto_report_failure(const char *library, const struct part *part,
                        const struct nvjitlink_answer *answer, const char *const *inputs,
                        size_t input_count)
{
    report_output(part);
    if (answer->step == NVJITLINK_LOAD) {
        diag_fatal("Could not load libnvJitLink '%s': %.*s", library, TEXT_ARG(answer->errors));
        return;
    }
    lto_report_log(answer->errors, true, NULL);
    if (answer->step == NVJITLINK_ADD && answer->failed_input < input_count)
        diag_fatal("libnvJitLink does not take '%s': %s", inputs[answer->failed_input],
                   nvjitlink_code_text(answer->code));
    else if (answer->step == NVJITLINK_CREATE)
        diag_fatal("libnvJitLink does not take the options: %s", nvjitlink_code_text(answer->code));
    else
        diag_fatal("elfLink JIT compile failed: %s",
                   answer->code ? nvjitlink_code_text(answer->code) : "libnvJitLink made no PTX");
}
