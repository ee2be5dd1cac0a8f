/* remote_chunks.c: items to jobs, and what became of the jobs to items. */
#include "assemble/remote_chunks.h"

#include <stdlib.h>
#include <string.h>

#include "assemble/chunk_cache.h"
#include "assemble/remote_command.h"
#include "base/context.h"
#include "diag/diag.h"
#include "diag/events.h"
#include "distribute/job_messages.h"
#include "distribute/verify_cubin.h"
#include "ptx/lexer.h"

/* One call of remote_chunks_run. */
struct sending {
    const struct remote_chunks *elsewhere;
    struct distribute_batch batch;
};

/* The names behind `.entry`, in the batch's arena. */
static void find_kernels(struct arena *arena, struct distribute_job *job)
{
    struct lexer lexer = lexer_at(job->input, 0);
    struct text *list = NULL;
    size_t capacity = 0;
    struct token token;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        if (token.kind != TOKEN_DOT || !text_equal(lexer_text(&lexer, token), TEXT(".entry")))
            continue;
        token = lexer_next(&lexer);
        if (token.kind != TOKEN_WORD)
            continue;
        ARENA_PUSH(arena, list, job->kernel_count, capacity) = lexer_text(&lexer, token);
    }
    job->kernels = list;
}

static void make_jobs(struct sending *sending)
{
    const struct remote_chunks *elsewhere = sending->elsewhere;
    struct distribute_batch *batch = &sending->batch;

    batch->jobs = arena_zalloc(&batch->arena, elsewhere->count, sizeof *batch->jobs);
    batch->count = elsewhere->count;
    for (size_t i = 0; i < batch->count; i++) {
        const struct work_item *item = elsewhere->items[i];
        size_t index = item->output_ptr->index;
        char name[WORKITEM_NAME_SIZE];

        batch->jobs[i] = (struct distribute_job){
            .name = arena_string(&batch->arena, text_of(workitem_name(index, name))),
            .input = {item->ptx, item->output_ptr->ptx_size},
            .cost = elsewhere->chunks->list[index].weight,
            .function = elsewhere->chunks->list[index].first_function,
        };
        find_kernels(&batch->arena, &batch->jobs[i]);
    }
}

/* What a worker would have said of its chunk itself. */
static enum link_code complain(void *argument)
{
    const struct distribute_job *job = argument;

    diag_error("The result of %s cannot be used: %s", job->name, job->why);
    return LINK_OK;
}

/* Lets the item have what the job has given. */
static void take_job(struct work_item *item, struct distribute_job *job)
{
    struct chunk_output *output = item->output_ptr;

    output->log = job->log;
    job->log = NULL;
    switch (job->end) {
    case DISTRIBUTE_DONE:
        output->cubin = job->data;
        output->cubin_size = job->size;
        job->data = NULL;
        item->result = LINK_OK;
        /* Without what the job has said, a later link would say less. */
        if (job->is_log_known)
            chunk_cache_keep(item->options->cache, output);
        break;
    case DISTRIBUTE_FAILED:
        item->result = (int32_t)job->code;
        break;
    case DISTRIBUTE_WRONG:
        item->result = LINK_FAILED;
        diag_collect(complain, job, item->options->parent, &output->sink);
        break;
    case DISTRIBUTE_MISSING:
        item->result = LINK_CANCELLED;
        break;
    }
}

static bool is_known_failure(const struct distribute_job *job)
{
    return job->end == DISTRIBUTE_FAILED || job->end == DISTRIBUTE_WRONG;
}

/* What there is no result of fails the link only when nothing else does: then the distributor had
 * no reason to leave it out. */
static enum link_code take_results(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;
    struct assemble_options *options;
    bool has_failure = false, has_missing = false;

    for (size_t i = 0; i < batch->count; i++) {
        has_failure |= is_known_failure(&batch->jobs[i]);
        has_missing |= batch->jobs[i].end == DISTRIBUTE_MISSING;
    }
    for (size_t i = batch->count; i-- > 0;) {
        struct work_item *item = sending->elsewhere->items[i];

        options = item->options;
        if (is_known_failure(&batch->jobs[i]))
            atomic_store(&options->first_failed, item->output_ptr->index);
        take_job(item, &batch->jobs[i]);
    }
    if (has_failure || !has_missing)
        return LINK_OK;
    distribute_report_missing(batch);
    return LINK_ENVIRONMENT;
}

/* What there is to say of a distributor that has failed. Where jobs have, their own messages
 * follow, and tell more than it does. */
static enum link_code report_end(struct sending *sending)
{
    const struct distribute_batch *batch = &sending->batch;
    bool has_failure = false;

    for (size_t i = 0; i < batch->count; i++)
        has_failure |= is_known_failure(&batch->jobs[i]);
    job_messages_report(batch, batch->how && !has_failure);
    return batch->how ? LINK_FAILED : LINK_OK;
}

static enum link_code run_jobs(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;
    const struct distribution *distribution = batch->distribution;
    enum link_code code, taken;
    uint64_t start = events_clock();

    code = distribution->resume_plan ? distribute_resume_plan(batch) : distribute_run(batch);
    if (start)
        events_record(
            &(struct event){.kind = EVENT_JOBS,
                            .name = text_of(distribution->resume_plan ? distribution->resume_plan
                                                                      : distribution->program),
                            .start = start,
                            .is_apart = true});
    if (code != LINK_OK)
        return code;
    code = report_end(sending);
    taken = take_results(sending);
    return code != LINK_OK ? code : taken;
}

static void let_go(void *argument)
{
    distribute_free(&((struct sending *)argument)->batch);
}

enum link_code remote_chunks_run(const struct remote_chunks *elsewhere)
{
    struct verify_cubin_expectation expectation = {.arch = elsewhere->arch,
                                                   .mode = elsewhere->items[0]->mode};
    struct sending sending = {
        .elsewhere = elsewhere,
        .batch = {.distribution = elsewhere->distribution,
                  .watch = elsewhere->distribution->resume_plan ? elsewhere->watch : NULL,
                  .check = verify_cubin,
                  .check_argument = &expectation,
                  .begins = verify_cubin_begins}};

    CONTEXT_DEFER(let_go, &sending);
    make_jobs(&sending);
    remote_command_choose(&sending.batch, elsewhere);
    expectation.is_vouched_for = sending.batch.tool.reports;
    return elsewhere->distribution->emit_plan ? distribute_emit_plan(&sending.batch)
                                              : run_jobs(&sending);
}

enum link_code remote_chunks_plan_nothing(const struct distribution *distribution)
{
    struct sending sending = {.batch = {.distribution = distribution}};

    CONTEXT_DEFER(let_go, &sending);
    remote_command_choose_none(&sending.batch);
    return distribute_emit_plan(&sending.batch);
}
