/* result.c: reads a job's result. If the tool writes a report, that has the cubin's hash; else the
 * cubin is checked by itself, and the log is the one that a distributor kept of the job's messages.
 */
#include "distribute/distribute.h"

#include <errno.h>
#include <string.h>

#include "distribute/files.h"

/* Largest output that is accepted; a real one is a few MiB. */
#define OUTPUT_LIMIT ((size_t)2 << 30)

/* Most bytes of messages that are taken of one job. */
#define LOG_LIMIT ((size_t)16 << 20)

/* Maps the code: codes of another version could mean anything. */
static enum link_code known_code(int code)
{
    switch (code) {
    case LINK_INTERNAL:
    case LINK_FAILED:
    case LINK_NVVM_ERROR:
    case LINK_NOT_RELOCATABLE:
    case LINK_NO_MEMORY:
    case LINK_ENVIRONMENT:
        return (enum link_code)code;
    default:
        return LINK_INTERNAL;
    }
}

/* Hands the log to the job. Replaces NULs, which would end it early. */
static void take_log(struct distribute_job *job, struct text log)
{
    buffer_text(&job->log, log);
    for (size_t i = 0; i < log.size; i++)
        if (!job->log.data[i])
            job->log.data[i] = ' ';
    job->is_log_known = true;
}

/* The parts of a result while it is checked. */
struct looking {
    struct file_contents report, output, log;
};

static const char *unreadable(struct distribute_batch *batch, const char *path)
{
    return arena_printf(&batch->arena, "'%s' cannot be read: %s", path, strerror(errno));
}

/* What is wrong with the output, which is there; or NULL. */
static const char *take_output(struct distribute_batch *batch, struct distribute_job *job,
                               struct looking *looking)
{
    const char *why = batch->check ? batch->check(batch->check_argument, &batch->arena, job,
                                                  files_bytes(&looking->output))
                                   : NULL;

    if (why)
        return why;
    job->end = DISTRIBUTE_DONE;
    job->code = LINK_OK;
    job->data = looking->output.data;
    job->size = looking->output.size;
    looking->output.data = NULL;
    return NULL;
}

/* False when there is no output, or *why says what is wrong with it. */
static bool read_output(struct distribute_batch *batch, const struct distribute_job *job,
                        struct looking *looking, const char **why)
{
    const struct file_demand demand = {.limit = OUTPUT_LIMIT, .begins = batch->begins};

    if (files_read_as(&looking->output, job->output_path, &demand)) {
        if (batch->watch)
            files_watch(&looking->output, batch->watch, job->output_path);
        return true;
    }
    if (errno == ENOEXEC)
        *why = arena_printf(&batch->arena, "'%s' does not begin as a result of its size",
                            job->output_path);
    else if (errno != ENOENT)
        *why = unreadable(batch, job->output_path);
    return false;
}

/* For a tool that writes reports: a result without a report is not trusted. Returns what is wrong
 * with it, or NULL. */
static const char *take_reported(struct distribute_batch *batch, struct distribute_job *job,
                                 struct looking *looking)
{
    struct job_report report;
    const char *why = NULL;

    if (!files_read(&looking->report, job->report_path, LOG_LIMIT))
        return errno == ENOENT ? NULL : unreadable(batch, job->report_path);
    if (!job_report_read(&report, files_bytes(&looking->report)))
        return "its report is damaged";
    if (!job_report_hash_is(report.input, text_bytes(job->input)))
        return "its report is about another input";
    take_log(job, report.log);
    if (report.code != LINK_OK) {
        job->end = DISTRIBUTE_FAILED;
        job->code = known_code(report.code);
        return NULL;
    }
    if (!read_output(batch, job, looking, &why))
        return why;
    if (!job_report_hash_is(report.output, files_bytes(&looking->output)))
        return "it is not what its report says was written: it is damaged, or not whole";
    return take_output(batch, job, looking);
}

/* For any other tool: the output shows whether it has succeeded; a log beside it, which
 * distributors may write, belongs to the job alone. A symbolic link is not followed, as it would
 * show somebody else's file. */
static const char *take_unreported(struct distribute_batch *batch, struct distribute_job *job,
                                   struct looking *looking)
{
    const struct file_demand demand = {.limit = LOG_LIMIT, .is_own = true};
    const char *why = NULL;

    if (files_read_as(&looking->log, job->log_path, &demand))
        take_log(job, (struct text){looking->log.data, looking->log.size});
    if (read_output(batch, job, looking, &why))
        return take_output(batch, job, looking);
    if (job->is_log_known && !why) {
        job->end = DISTRIBUTE_FAILED;
        job->code = LINK_FAILED;
    }
    return why;
}

void result_take(struct distribute_batch *batch, struct distribute_job *job)
{
    struct looking looking = {0};

    CONTEXT_DEFER(files_cleanup, &looking.report);
    CONTEXT_DEFER(files_cleanup, &looking.output);
    CONTEXT_DEFER(files_cleanup, &looking.log);
    job->end = DISTRIBUTE_MISSING;
    job->why = (batch->tool.reports ? take_reported : take_unreported)(batch, job, &looking);
    if (job->why)
        job->end = DISTRIBUTE_WRONG;
}
