/* fuzz_plan.c: any bytes as a plan, and as the report of a job. */
#include "distribute/internal.h"
#include "fuzz.h"

/* Two jobs as they might be planned; the seeds are plans of these, among others. */
static void look_at_plan(struct text text)
{
    static const char *const words[] = {"minilink", "-arch=sm_90", NULL};
    static const struct distribution distribution = {.output = "x"};
    struct distribute_job jobs[] = {{.name = "chunk 0", .input = TEXT("// 0")},
                                    {.name = "chunk 1", .input = TEXT("// 1")}};
    struct distribute_batch batch = {
        .distribution = &distribution,
        .tool = {.words = words, .input_suffix = ".ptx", .output_suffix = ".cubin"},
        .jobs = jobs,
        .count = 2};
    const char *why = NULL;

    distribute_name_files(&batch, "plan.d");
    if (jobfile_is_of(text, &batch, &why) == (why != NULL))
        abort(); /* a plan that is none has a reason */
    distribute_free(&batch);
}

static void look_at_report(struct bytes bytes)
{
    struct job_report report;

    if (job_report_read(&report, bytes) &&
        (strlen(report.input) != JOB_REPORT_HASH_SIZE - 1 ||
         strlen(report.output) != JOB_REPORT_HASH_SIZE - 1 || report.log.size > bytes.size))
        abort();
}

static enum link_code look(void *argument)
{
    const struct bytes *bytes = argument;

    look_at_plan((struct text){(const char *)bytes->data, bytes->size});
    look_at_report(*bytes);
    return LINK_OK;
}

static void fuzz(struct bytes rest)
{
    context_run(look, &rest);
}
