/* part.c: runs a child per part, with its job and its answer in memory; or sends these files to
 * another machine. Workers raise nothing. */
#include "lto/part.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "diag/diag.h"
#include "distribute/distribute.h"
#include "distribute/job_messages.h"
#include "lto/answer.h"
#include "lto/child.h"
#include "lto/lto.h"
#include "lto/lto_cache.h"
#include "os/cancellation.h"
#include "os/descriptor.h"
#include "os/fork_server.h"
#include "os/self_exec.h"
#include "pool/child_tokens.h"
#include "pool/dispatch.h"
#include "pool/memory_budget.h"
#include "pool/pool.h"

/* Most bytes that are kept of the library's output. */
#define OUTPUT_LIMIT 65536u

/* "/dev/fd/" and a number. */
#define FD_PATH_SIZE 32

/* Runs the part in a copy of a child that has loaded the library. Used if more runs follow: in a
 * link of several parts, and in a program that links repeatedly. */
static bool run_copy(struct part *part, const struct exec_request *run, const int files[3])
{
    const struct fork_server_job job = {
        .run = *run,
        .files = files,
        .file_count = 3,
        .is_repeated = part->run->is_repeated,
    };

    return part->run->link->library && (job.is_repeated || !self_exec_is_program()) &&
           fork_server_run(&job, &part->result);
}

/* Runs minilink --lto-part=LIBRARY JOB INPUTS ANSWER. libnvvm walks tables in the order of
 * addresses: with other addresses, private strings are in another order (measured). A copy has the
 * same addresses as a separate child. */
static void run_part_child(struct part *part, int job)
{
    const struct part_list *run = part->run;
    const char *library = run->link->library;
    const struct child_tokens *tokens = child_tokens_get();
    const int pass[] = {job, run->inputs_fd, part->answer_fd, tokens ? tokens->fds[0] : -1,
                        tokens ? tokens->fds[1] : -1};
    char paths[3][FD_PATH_SIZE], own[PATH_MAX], word[PATH_MAX + sizeof LTO_CHILD_WORD];
    const char *program = run->program ? run->program : self_exec_file(own);
    const char *argv[] = {
        program, word, fork_server_files[0], fork_server_files[1], fork_server_files[2], NULL};
    const struct exec_request request = {
        .argv = argv,
        .pass = pass,
        .pass_count = tokens ? 5 : 3,
        .variables = {tokens ? tokens->flags : NULL},
        .fixed_addresses = true,
        .output_limit = OUTPUT_LIMIT,
        .timeout = run->link->timeout,
        .cancelled = &part->cancelled,
    };

    if (tokens && tokens->error) {
        part->result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = tokens->error};
        return;
    }
    snprintf(word, sizeof word, "%s%s%s", LTO_CHILD_WORD, library ? "=" : "",
             library ? library : "");
    if (tokens || !run_copy(part, &request, pass)) {
        for (int i = 0; i < 3; i++) {
            snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", pass[i]);
            argv[2 + i] = paths[i];
        }
        exec_run(&request, &part->result);
    }
    part->succeeded = part->result.end == EXEC_EXITED && part->result.code == LTO_CHILD_ANSWERED &&
                      answer_succeeded(part->answer_fd);
}

static void cancel_later_parts(struct part *part)
{
    struct part *end = part->run->list + part->run->count;

    while (++part < end)
        __atomic_store_n(&part->cancelled, 1, __ATOMIC_SEQ_CST);
}

static bool is_cancelled(void *argument)
{
    struct part *part = argument;

    return __atomic_load_n(&part->cancelled, __ATOMIC_RELAXED) != 0;
}

static void run_part_job(void *argument)
{
    struct part *part = argument;
    int job;

    part->result.end = EXEC_CANCELLED;
    if (is_cancelled(part))
        return;
    part->started = clock_now();
    part->answer_fd = descriptor_memory_file("minilink-lto");
    job = part->answer_fd < 0 ? -1 : descriptor_memory_file("minilink-lto-job");
    if (job >= 0 && descriptor_write(job, part->job.data, part->job.size))
        run_part_child(part, job);
    else
        part->result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = errno};
    if (job >= 0)
        close(job);
    part->nanoseconds = clock_now() - part->started;
    if (part->succeeded)
        lto_cache_keep(part->run->link->cache, part);
    else
        cancel_later_parts(part);
}

/* Scales a cost to the 32 bits of a task's priority. */
static uint32_t priority_of(uint64_t cost)
{
    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

/* Makes tasks of the parts that are not in the cache, and returns their number. */
static size_t make_tasks(struct pool_task *tasks, struct part_list *run)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++) {
        struct part *part = &run->list[i];

        part->run = run;
        if (lto_cache_find(run->link->cache, part))
            continue;
        tasks[count++] = (struct pool_task){run_part_job, part, priority_of(part->cost)};
    }
    return count;
}

/* Cancels every part, when the result is no longer wanted. */
static void cancel_parts(void *argument)
{
    struct part_list *run = argument;

    for (size_t i = run->count; i-- > 0;)
        __atomic_store_n(&run->list[i].cancelled, 1, __ATOMIC_SEQ_CST);
}

/* One call, and the resources that it holds. */
struct sending {
    struct part_list *run;
    struct part **parts; /* parts of the jobs */
    struct distribute_batch batch;
    struct bytes inputs; /* mapped */
};

static void end_sending_parts(void *argument)
{
    struct sending *sending = argument;

    descriptor_unmap(&sending->inputs);
    distribute_free(&sending->batch);
}

static void choose_part_tool(struct sending *sending)
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

static void make_remote_parts(struct sending *sending)
{
    struct part_list *run = sending->run;
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

static void take_remote_parts(struct sending *sending)
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

static void run_remote_parts(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;

    if (distribute_run(batch) != LINK_OK) { /* reported, or a signal */
        for (size_t i = 0; i < batch->count; i++)
            sending->parts[i]->result = (struct exec_result){.end = EXEC_CANCELLED};
        return;
    }
    job_messages_report(batch, batch->how != NULL);
    distribute_report_missing(batch);
    take_remote_parts(sending);
}

/* Has the distributor run the parts that are not in the cache. Each part is left as its child would
 * have left it; one without an answer, as if its child had found no job. */
static void send_parts(struct part_list *run)
{
    /* The report verifies the bytes; their contents are read like every child's answer. */
    struct sending sending = {
        .run = run, .batch = {.distribution = run->link->distribution, .begins = answer_begins}};

    CONTEXT_DEFER(end_sending_parts, &sending);
    make_remote_parts(&sending);
    choose_part_tool(&sending);
    run_remote_parts(&sending);
}

/* Runs the remaining tasks. Returns how many ran at one time. */
static uint32_t run_part_tasks(struct part_list *run, struct pool_task *tasks, size_t count)
{
    const struct dispatch_request wanted = {
        .tasks = tasks,
        .count = count,
        .threads = run->threads,
        .jobserver = run->link->jobserver,
        .child_threads = run->child_threads,
        .is_cancelled = is_cancelled,
    };
    uint32_t threads = run->threads;

    cancellation_watch(run->link->stop, cancel_parts, run);
    if (run->link->distribution)
        send_parts(run);
    else
        threads = dispatch_run(&wanted);
    cancellation_unwatch(run->link->stop);
    return threads;
}

uint32_t part_most_threads(const struct lto_request *link)
{
    uint32_t threads = link->threads ? link->threads : (uint32_t)pool_cpu_count();
    uint32_t limit = pool_sequential_reason() ? 1 : link->thread_limit;

    return limit && threads > limit ? limit : threads;
}

/* The number of parts that may run at one time. */
static uint32_t count_part_threads(struct part_list *run)
{
    uint32_t threads = part_most_threads(run->link);
    uint64_t *needs = arena_alloc(&run->arena, run->count, sizeof *needs);

    for (size_t i = 0; i < run->count; i++)
        needs[i] = run->list[i].memory;
    if (threads > run->count)
        threads = (uint32_t)run->count;
    return memory_budget_threads(threads, run->link->memory_limit, needs, run->count);
}

static void run_all(struct part_list *run)
{
    struct pool_task *tasks = arena_alloc(&run->arena, run->count, sizeof *tasks);
    size_t count;
    uint32_t threads;

    run->threads = count_part_threads(run);
    run->is_repeated |= run->count > run->threads;
    count = make_tasks(tasks, run);
    if (count == 0)
        return;
    threads = run_part_tasks(run, tasks, count);
    if (count == run->count)
        run->threads = threads;
}

size_t part_run_all(struct part_list *run, struct arena *texts)
{
    size_t first_failed = 0;

    run_all(run);
    for (size_t i = 0; i < run->count; i++) {
        struct part *part = &run->list[i];

        part->succeeded &= answer_read(part->answer_fd, texts, &part->answer);
    }
    while (first_failed < run->count && run->list[first_failed].succeeded)
        first_failed++;
    return first_failed;
}

static void free_part_list(struct part_list *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->list[i].answer_fd >= 0)
            close(run->list[i].answer_fd);
        free(run->list[i].result.output);
    }
    run->count = 0;
}

void part_make_all(struct part_list *run, size_t count)
{
    free_part_list(run);
    run->list = arena_zalloc(&run->arena, count, sizeof *run->list);
    for (size_t i = 0; i < count; i++)
        run->list[i].answer_fd = -1;
    run->count = count;
}

void part_set_job(struct part_list *run, struct part *part, const char *const *options,
                  const struct job_inputs *inputs, const struct cache_key *common)
{
    part->job = job_write(&run->arena, run->link->library, options, inputs);
    if (run->link->cache)
        part->key = lto_cache_key(common, options);
}

void part_end_all(void *argument)
{
    struct part_list *run = argument;

    free_part_list(run);
    if (run->inputs_fd >= 0)
        close(run->inputs_fd);
    table_free(&run->said);
    arena_free(&run->arena);
}
