/* job_messages.c: each job's input has a unique name, so a line with that name is about that job.
 */
#include "distribute/distribute.h"

#include <string.h>

#include "base/context.h"
#include "base/table.h"
#include "base/text.h"
#include "diag/diag.h"
#include "diag/log_line.h"

/* Most lines shown as explanation of a distributor's failure: the last ones. */
#define MOST_NOTES 20

/* State while lines are sorted. */
struct sorting {
    struct distribute_batch *batch;
    struct table jobs;   /* by the file names of their inputs */
    size_t name_size;    /* length of these names */
    struct buffer *logs; /* one per job, in the batch's arena */
};

static void free_sorting(void *argument)
{
    struct sorting *sorting = argument;

    for (size_t i = 0; i < sorting->batch->count; i++)
        buffer_free(&sorting->logs[i]);
    table_free(&sorting->jobs);
}

/* The job whose input the line names, or TABLE_NONE. The name follows a slash. */
static uint32_t find_job(const struct sorting *sorting, struct text line)
{
    const char *slash = line.data, *end = line.data + line.size;
    uint32_t found = TABLE_NONE;

    while (found == TABLE_NONE && (slash = memchr(slash, '/', (size_t)(end - slash))) != NULL) {
        slash++;
        if ((size_t)(end - slash) < sorting->name_size)
            break;
        found = table_find(&sorting->jobs, (struct text){slash, sorting->name_size});
    }
    return found;
}

static void sort_lines(struct sorting *sorting)
{
    struct text rest = text_of(sorting->batch->said), line;
    struct log_line message;

    while (text_scan_line(&rest, &line)) {
        uint32_t found = find_job(sorting, line);
        struct buffer *to = found == TABLE_NONE ? &sorting->batch->loose : &sorting->logs[found];
        struct distribute_job *job = found == TABLE_NONE ? NULL : &sorting->batch->jobs[found];

        buffer_text(to, line);
        buffer_char(to, '\n');
        if (job && job->end == DISTRIBUTE_MISSING && log_line_parse(line, &message) &&
            message.severity >= DIAG_ERROR) {
            job->end = DISTRIBUTE_FAILED;
            job->code = LINK_FAILED;
        }
    }
}

/* Hands the logs to the jobs. A log is complete only if every line could be attributed. */
static void hand_over(struct sorting *sorting)
{
    for (size_t i = 0; i < sorting->batch->count; i++) {
        struct distribute_job *job = &sorting->batch->jobs[i];

        if (job->is_log_known)
            continue;
        if (sorting->logs[i].size)
            job->log = buffer_take(&sorting->logs[i], NULL);
        job->is_log_known = sorting->batch->loose.size == 0;
    }
}

void job_messages_attribute(struct distribute_batch *batch)
{
    struct sorting sorting = {.batch = batch};

    sorting.logs = arena_zalloc(&batch->arena, batch->count, sizeof *sorting.logs);
    CONTEXT_DEFER(free_sorting, &sorting);
    for (size_t i = 0; i < batch->count; i++) {
        struct text name = text_of(basename(batch->jobs[i].input_path));

        sorting.name_size = name.size;
        if (!batch->jobs[i].is_log_known)
            table_add(&sorting.jobs, name, (uint32_t)i);
    }
    sort_lines(&sorting);
    hand_over(&sorting);
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
