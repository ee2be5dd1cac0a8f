/* remote_parts.c: the files that a child on this machine has in memory are sent instead. */
#include "lto/part.h"

#include <errno.h>
#include <unistd.h>

#include "base/context.h"
#include "diag/diag.h"
#include "distribute/job_messages.h"
#include "lto/child.h"
#include "lto/lto.h"
#include "lto/lto_cache.h"
#include "os/descriptor.h"

/* One call, and what must be let go of behind it. */
struct sending {
    struct parts_run *run;
    struct part **parts; /* of the jobs */
    struct distribute_batch batch;
    struct bytes inputs; /* mapped */
};

static void let_go(void *argument)
{
    struct sending *sending = argument;

    descriptor_unmap(&sending->inputs);
    distribute_free(&sending->batch);
}

static void choose_tool(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;
    const char **words = arena_alloc(&batch->arena, 3, sizeof *words);
    const char *tool = batch->distribution->tool;

    words[0] = distribute_is_minilink(tool) ? tool : distribute_own_path(&batch->arena);
    words[1] = sending->run->link->library ? arena_printf(&batch->arena, "%s=%s", LTO_CHILD_WORD,
                                                          sending->run->link->library)
                                           : LTO_CHILD_WORD;
    words[2] = NULL;
    if (!descriptor_map(sending->run->inputs_fd, &sending->inputs))
        context_raise(LINK_NO_MEMORY);
    batch->tool = (struct distribute_tool){
        .words = words,
        .input_suffix = ".job",
        .output_suffix = ".answer",
        .shared = {(const char *)sending->inputs.data, sending->inputs.size},
        .is_positional = true,
        .reports = true,
        .time_limit = sending->run->link->timeout,
    };
}

static void make_jobs(struct sending *sending)
{
    struct parts_run *run = sending->run;
    struct distribute_batch *batch = &sending->batch;

    batch->jobs = arena_zalloc(&batch->arena, run->count, sizeof *batch->jobs);
    sending->parts = arena_alloc(&batch->arena, run->count, sizeof *sending->parts);
    for (size_t i = 0; i < run->count; i++) {
        struct part *part = &run->list[i];

        if (part->is_found)
            continue;
        sending->parts[batch->count] = part;
        batch->jobs[batch->count++] =
            (struct distribute_job){.name = arena_printf(&batch->arena, "LTO part %zu", i),
                                    .input = part->job,
                                    .cost = part->cost};
    }
}

static void take_answer(struct part *part, const struct distribute_job *job)
{
    part->answer_fd = descriptor_memory_file("minilink-lto");
    if (part->answer_fd < 0 || !descriptor_write(part->answer_fd, job->data, job->size)) {
        part->result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = errno};
        return;
    }
    part->result = (struct exec_result){.end = EXEC_EXITED, .code = LTO_CHILD_ANSWERED};
    part->succeeded = answer_succeeded(part->answer_fd);
    if (part->succeeded)
        lto_cache_keep(part->run->link->cache, part);
}

static void take_parts(struct sending *sending)
{
    for (size_t i = 0; i < sending->batch.count; i++) {
        const struct distribute_job *job = &sending->batch.jobs[i];
        struct part *part = sending->parts[i];

        part->result = (struct exec_result){.end = EXEC_EXITED, .code = LTO_CHILD_NO_JOB};
        if (job->end == DISTRIBUTE_DONE)
            take_answer(part, job);
        else if (job->end == DISTRIBUTE_FAILED && job->code == LINK_NO_MEMORY)
            part->result.code = LTO_CHILD_NO_MEMORY;
        else if (job->end == DISTRIBUTE_WRONG)
            diag_error("The result of %s cannot be used: %s", job->name, job->why);
    }
}

static void cancel(struct sending *sending)
{
    for (size_t i = 0; i < sending->batch.count; i++)
        sending->parts[i]->result = (struct exec_result){.end = EXEC_CANCELLED};
}

static void run_jobs(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;

    if (distribute_run(batch) != LINK_OK) {
        cancel(sending); /* reported, or a signal */
        return;
    }
    job_messages_report(batch, batch->how != NULL);
    distribute_report_missing(batch);
    take_parts(sending);
}

void remote_parts_compile(struct parts_run *run)
{
    /* The report vouches for the bytes; what they say is read as every child's answer. */
    struct sending sending = {
        .run = run, .batch = {.distribution = run->link->distribution, .begins = answer_begins}};

    CONTEXT_DEFER(let_go, &sending);
    make_jobs(&sending);
    choose_tool(&sending);
    run_jobs(&sending);
}
