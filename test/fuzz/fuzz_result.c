/* fuzz_result.c: what a job on another machine has left: a report or a log, and a cubin.
 *
 * The first byte chooses: 1 the tool reports, 2 the report's hashes are those of what is there, 4
 * there is no first file, 8 no second, 16 the cubin is to be a whole program, 32 the job has a
 * kernel that no cubin has. Then the first file as a part, and the rest is the second. */
#include <stdio.h>
#include <unistd.h>

#include "cubin/cubin.h"
#include "distribute/internal.h"
#include "minilink/assembler.h"
#include "fuzz.h"

static char folder[] = "/tmp/minilink-fuzz-XXXXXX";
static char report_path[64], log_path[64], output_path[64];

static void remove_files(void)
{
    unlink(report_path);
    unlink(log_path);
    unlink(output_path);
    rmdir(folder);
}

static void make_folder(void)
{
    if (*output_path)
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(report_path, sizeof report_path, "%s/report", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(output_path, sizeof output_path, "%s/output", folder);
    atexit(remove_files);
}

/* Writes the file, or sees to it that there is none. */
static void put(const char *path, struct bytes bytes, bool is_there)
{
    FILE *file;

    unlink(path);
    if (!is_there)
        return;
    file = fopen(path, "we");
    if (!file || fwrite(bytes.data, 1, bytes.size, file) != bytes.size || fclose(file))
        abort();
}

/* A report of a job that succeeded, with `log`. */
static void put_report(struct text input, struct bytes output, struct bytes log)
{
    struct buffer text = {0};

    job_report_write(&text, LINK_OK, text_bytes(input), output,
                     (struct text){(const char *)log.data, log.size});
    put(report_path, buffer_bytes(&text), true);
    buffer_free(&text);
}

static void check_job(const struct distribute_job *job, struct bytes output)
{
    struct cubin cubin = {0};

    if (job->end == DISTRIBUTE_WRONG && !job->why)
        abort();
    if (job->end == DISTRIBUTE_FAILED && job->code == LINK_OK)
        abort();
    if (job->end != DISTRIBUTE_DONE)
        return;
    if (job->code != LINK_OK || job->size != output.size ||
        memcmp(job->data, output.data, output.size) != 0)
        abort();
    /* It may still be damaged inside, which the link finds. */
    cubin_read(&cubin, "result", (struct bytes){job->data, job->size});
    cubin_free(&cubin);
}

static enum link_code look(void *argument)
{
    struct bytes rest = *(struct bytes *)argument;
    uint8_t chosen = fuzz_byte(&rest);
    struct bytes first = fuzz_part(&rest);
    struct text kernels[] = {TEXT("k1"), TEXT("nobody")};
    struct verify_cubin_expectation expected = {.arch = {.sm = 90},
                                                .mode = chosen & 16 ? MINILINK_MODE_WHOLE
                                                                    : MINILINK_MODE_RELOCATABLE,
                                                .is_vouched_for = chosen & 1};
    struct distribute_job job = {.name = "chunk 0",
                                 .input = TEXT("// PTX"),
                                 .kernels = kernels,
                                 .kernel_count = chosen & 32 ? 2 : 1,
                                 .output_path = output_path,
                                 .report_path = report_path,
                                 .log_path = log_path};
    struct distribute_batch batch = {.tool = {.reports = chosen & 1},
                                     .jobs = &job,
                                     .count = 1,
                                     .check = verify_cubin,
                                     .check_argument = &expected,
                                     .begins = verify_cubin_begins};

    put(output_path, rest, !(chosen & 8));
    put(log_path, first, !(chosen & 4));
    if ((chosen & 3) == 3)
        put_report(job.input, rest, first);
    else
        put(report_path, first, !(chosen & 4));
    result_take(&batch, &job);
    check_job(&job, rest);
    free(job.data);
    buffer_free(&job.log);
    arena_free(&batch.arena);
    return LINK_OK;
}

static void fuzz(struct bytes rest)
{
    make_folder();
    context_run(look, &rest);
}
