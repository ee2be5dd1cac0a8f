/* job_messages.c: each job's input has a unique name, so a line with that name is about that job.
 */
#include "distribute/distribute.h"

#include <string.h>

#include "base/text.h"
#include "diag/diag.h"
#include "diag/log_line.h"

/* Most lines shown as explanation of a distributor's failure: the last ones. */
#define MOST_NOTES 20

/* The jobs whose logs are not known, by the file names of their inputs, which have one length. */
struct names {
    struct table jobs;
    size_t size;
};

/* The job whose input the line names, or TABLE_NONE. The name follows a slash. */
static uint32_t find_job(const struct names *names, struct text line)
{
    const char *slash = line.data, *end = line.data + line.size;
    uint32_t found = TABLE_NONE;

    while (found == TABLE_NONE && (slash = memchr(slash, '/', (size_t)(end - slash))) != NULL) {
        slash++;
        if ((size_t)(end - slash) < names->size)
            break;
        found = table_find(&names->jobs, (struct text){slash, names->size});
    }
    return found;
}

static void attribute_line(struct distribute_batch *batch, struct distribute_job *job,
                           struct text line)
{
    struct buffer *to = job ? &job->log : &batch->loose;
    struct log_line message;

    buffer_text(to, line);
    buffer_char(to, '\n');
    if (job && job->end == DISTRIBUTE_MISSING && log_line_parse(line, &message) &&
        message.severity >= DIAG_ERROR) {
        job->end = DISTRIBUTE_FAILED;
        job->code = LINK_FAILED;
    }
}

void job_messages_attribute(struct distribute_batch *batch)
{
    struct text rest = text_of(batch->said), line;
    struct names names = {0};

    CONTEXT_DEFER(table_cleanup, &names.jobs);
    for (size_t i = 0; i < batch->count; i++) {
        struct text name = text_of(basename(batch->jobs[i].input_path));

        names.size = name.size;
        if (!batch->jobs[i].is_log_known)
            table_add(&names.jobs, name, (uint32_t)i);
    }
    while (text_scan_line(&rest, &line)) {
        uint32_t found = find_job(&names, line);

        attribute_line(batch, found == TABLE_NONE ? NULL : &batch->jobs[found], line);
    }
    /* A log is complete only if every line could be attributed. */
    for (size_t i = 0; i < batch->count; i++)
        batch->jobs[i].is_log_known |= batch->loose.size == 0;
}

/* The last `most` lines of the text. */
static struct text last_lines(struct text text, size_t most)
{
    size_t at = text.size;

    while (at > 0)
        if (text.data[--at] == '\n' && at + 1 < text.size && --most == 0)
            return (struct text){text.data + at + 1, text.size - at - 1};
    return text;
}

void job_messages_report(const struct distribute_batch *batch, bool explains)
{
    const char *program = batch->distribution->program;
    struct text rest = buffer_view(&batch->loose), line;
    const struct diag_place nowhere = {0};
    struct log_line message;

    if (batch->how)
        diag_fatal("The distributor '%s' %s", program, batch->how);
    if (explains)
        rest = last_lines(rest, MOST_NOTES);
    while (text_scan_line(&rest, &line)) {
        if (explains)
            diag_note("%s: %.*s", program, TEXT_ARG(line));
        else if (log_line_parse(line, &message))
            diag_at(message.severity, &nowhere, "%.*s", TEXT_ARG(message.text));
        else
            diag_verbose("%s: %.*s", program, TEXT_ARG(line));
    }
}
