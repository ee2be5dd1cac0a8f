/* distribute.c: writes the files of a batch into a private folder and runs the distributor. */
#include "distribute/distribute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "diag/diag.h"
#include "distribute/batch.h"
#include "distribute/files.h"
#include "distribute/jobfile.h"
#include "distribute/result.h"
#include "os/exec.h"
#include "os/folder.h"
#include "os/program_path.h"

/* Most bytes that are kept of what a distributor prints. */
#define OUTPUT_LIMIT (4u << 20)

/* Jobs without a result that are named, when there are many. */
#define MOST_NAMED 8

/* A hash of the words, each with its NUL, so that no two lists of words are the same bytes. */
static XXH128_hash_t hash_job(const struct distribute_batch *batch,
                              const struct distribute_job *job)
{
    XXH128_hash_t parts[2] = {{0, 0}, XXH3_128bits(job->input.data, job->input.size)};

    for (size_t i = 0; batch->tool.words[i]; i++) {
        XXH128_hash_t word = XXH3_128bits(batch->tool.words[i], strlen(batch->tool.words[i]) + 1);
        XXH128_hash_t both[2] = {parts[0], word};

        parts[0] = XXH3_128bits(both, sizeof both);
    }
    return XXH3_128bits(parts, sizeof parts);
}

void distribute_add_to_key(struct key *key, const struct distribution *distribution)
{
    key_string(key, "as made by");
    key_string(key, distribution->program);
    key_strings(key, distribution->arguments);
    key_string(key, distribution->tool);
}

void distribute_name_files(struct distribute_batch *batch, const char *folder)
{
    if (batch->tool.shared.size)
        batch->tool.shared_path = arena_printf(&batch->arena, "%s/shared", folder);
    for (size_t i = 0; i < batch->count; i++) {
        struct distribute_job *job = &batch->jobs[i];
        XXH128_hash_t hash = hash_job(batch, job);
        const char *stem =
            arena_printf(&batch->arena, "%s/%016llx%016llx", folder,
                         (unsigned long long)hash.high64, (unsigned long long)hash.low64);

        job->input_path = arena_printf(&batch->arena, "%s%s", stem, batch->tool.input_suffix);
        job->output_path = arena_printf(&batch->arena, "%s%s", stem, batch->tool.output_suffix);
        job->facts_path = arena_printf(&batch->arena, "%s.json", stem);
        job->report_path = arena_printf(&batch->arena, "%s.report", stem);
        job->log_path = arena_printf(&batch->arena, "%s.log", job->output_path);
    }
}

static enum link_code write_failed(const char *path)
{
    diag_fatal("Could not write '%s': %s", path, strerror(errno));
    return LINK_ENVIRONMENT;
}

/* Writes `text`, malloc'ed, and frees it. NULL is a failure that was reported. */
static enum link_code write_text(const char *path, char *text)
{
    enum link_code code = LINK_FAILED;

    if (!text)
        return LINK_FAILED;
    CONTEXT_DEFER(memory_cleanup, &text);
    code = files_write(path, (struct bytes){(const uint8_t *)text, strlen(text)})
               ? LINK_OK
               : write_failed(path);
    return code;
}

enum link_code batch_write_inputs(const struct distribute_batch *batch)
{
    const struct distribute_tool *tool = &batch->tool;

    if (tool->shared_path && !files_write(tool->shared_path, text_bytes(tool->shared)))
        return write_failed(tool->shared_path);
    for (size_t i = 0; i < batch->count; i++) {
        const struct distribute_job *job = &batch->jobs[i];
        enum link_code code;

        if (!files_write(job->input_path, text_bytes(job->input)))
            return write_failed(job->input_path);
        code = write_text(job->facts_path, jobfile_make_facts(batch, job));
        if (code != LINK_OK)
            return code;
    }
    return LINK_OK;
}

/* How the distributor ended, in words, or NULL when it ended well. */
static const char *describe_end(struct arena *arena, const struct exec_result *result)
{
    switch (result->end) {
    case EXEC_SIGNALED:
        return arena_printf(arena, "was killed by signal %d (%s)", result->code,
                            strsignal(result->code));
    case EXEC_NOT_STARTED:
        return arena_printf(arena, "could not be run: %s", strerror(result->code));
    case EXEC_TIMED_OUT:
        return arena_printf(arena, "was ended, as it took more than %d s (--timeout for each job)",
                            result->code);
    case EXEC_CANCELLED:
    case EXEC_EXITED:
        break;
    }
    return result->code ? arena_printf(arena, "ended with status %d", result->code) : NULL;
}

/* What a run needs, and what must be let go of behind it. */
struct run {
    struct distribute_batch *batch;
    struct folder folder;
    char *program;
};

static void let_go(void *argument)
{
    struct run *run = argument;

    folder_remove(&run->folder);
    free(run->program);
}

static const char *const *make_command(struct run *run, const char *jobs)
{
    const char *const *arguments = run->batch->distribution->arguments;
    size_t count = string_list_count(arguments);
    const char **argv = arena_alloc(&run->batch->arena, count + 3, sizeof *argv);

    argv[0] = run->program;
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = arguments[i];
    argv[count + 1] = jobs;
    argv[count + 2] = NULL;
    return argv;
}

/* Seconds that the distributor may take: it may run one job after the other. 0 = no limit. */
static unsigned time_limit(const struct distribute_batch *batch)
{
    uint64_t limit = (uint64_t)batch->tool.time_limit * batch->count;

    return limit > INT32_MAX ? INT32_MAX : (unsigned)limit;
}

static enum link_code call(struct run *run, const char *jobs)
{
    struct distribute_batch *batch = run->batch;
    const struct exec_request request = {.argv = make_command(run, jobs),
                                         .output_limit = OUTPUT_LIMIT,
                                         .timeout = time_limit(batch),
                                         .is_asked_first = true,
                                         .cancelled = batch->distribution->cancelled};
    struct exec_result ended;

    exec_run(&request, &ended);
    batch->said = ended.output;
    if (ended.end == EXEC_NOT_STARTED && ended.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    if (ended.end == EXEC_CANCELLED)
        return LINK_CANCELLED;
    batch->how = describe_end(&batch->arena, &ended);
    for (size_t i = 0; i < batch->count; i++)
        result_take(batch, &batch->jobs[i]);
    return LINK_OK;
}

static enum link_code run_in_folder(struct run *run)
{
    struct distribute_batch *batch = run->batch;
    const char *program = batch->distribution->program;
    const char *jobs;
    enum link_code code;

    run->program = program_path_find(text_of(program));
    if (!run->program) {
        diag_fatal("Could not find the distributor '%s' on PATH", program);
        return LINK_ENVIRONMENT;
    }
    if (!folder_make(&run->folder, batch->distribution->output)) {
        diag_fatal("Could not make a folder for the files of jobs: %s", strerror(errno));
        return LINK_ENVIRONMENT;
    }
    distribute_name_files(batch, run->folder.path);
    jobs = arena_printf(&batch->arena, "%s/jobs.json", run->folder.path);
    code = batch_write_inputs(batch);
    if (code == LINK_OK)
        code = write_text(jobs, jobfile_make(batch));
    return code == LINK_OK ? call(run, jobs) : code;
}

enum link_code distribute_run(struct distribute_batch *batch)
{
    struct run run = {.batch = batch};

    CONTEXT_DEFER(let_go, &run);
    return run_in_folder(&run);
}

static const char *kernels_of(struct arena *arena, const struct distribute_job *job)
{
    size_t more = job->kernel_count > 3 ? job->kernel_count - 3 : 0;
    const char *names = "";

    if (job->kernel_count == 0 && job->function)
        return arena_printf(arena, ", with function '%s'", job->function);
    for (size_t i = 0; i < job->kernel_count - more; i++)
        names = arena_printf(arena, "%s%s'%.*s'", names, i ? ", " : ", with kernel ",
                             TEXT_ARG(job->kernels[i]));
    return more ? arena_printf(arena, "%s and %zu more", names, more) : names;
}

void distribute_report_missing(struct distribute_batch *batch)
{
    size_t missing = 0, named = 0;

    for (size_t i = 0; i < batch->count; i++)
        missing += batch->jobs[i].end == DISTRIBUTE_MISSING;
    for (size_t i = 0; i < batch->count && named < MOST_NAMED; i++) {
        const struct distribute_job *job = &batch->jobs[i];

        if (job->end != DISTRIBUTE_MISSING)
            continue;
        named++;
        diag_error("There is no result of %s%s", job->name, kernels_of(&batch->arena, job));
    }
    if (missing > named)
        diag_note("and of %zu more of %zu", missing - named, batch->count);
}

void distribute_free(struct distribute_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->jobs[i].data);
        free(batch->jobs[i].log);
        batch->jobs[i].data = NULL;
        batch->jobs[i].log = NULL;
    }
    free(batch->said);
    batch->said = NULL;
    arena_free(&batch->arena);
}
