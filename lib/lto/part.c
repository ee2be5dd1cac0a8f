/* part.c: runs a child per part, with its job and its answer in memory; or sends these files to
 * another machine; or finds the answer in the cache. Workers raise nothing. */
#include "lto/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "diag/diag.h"
#include "os/thread.h"
#include "os/file.h"
#include "os/fork_server.h"
#include "os/program.h"
#include "pool/jobserver.h"

/* Most bytes that are kept of the library's output. */
#define OUTPUT_LIMIT 65536u

/* "/dev/fd/" and a number. */
#define FD_PATH_SIZE 32

/* Parts of an entry of the cache: a part's answer is stored unchanged, with the library's output,
 * so that everything read from it or reported about it is the same. */
enum { PART_ANSWER, PART_OUTPUT, PART_PEAK };

/* An empty memory file, for input of children. */
static int open_inputs(void)
{
    int fd = descriptor_memory_file("minilink-lto-inputs");

    if (fd >= 0)
        return fd;
    if (errno == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("Could not open a file in memory: %s", strerror(errno));
    context_raise(LINK_ENVIRONMENT);
}

/* Entries and containers begin at multiples of this. */
#define ALIGNMENT 8u

/* Writes to the file of inputs, which has *size bytes. */
static void write_bytes(const struct part_list *run, uint64_t *size, struct bytes bytes)
{
    if (!descriptor_write(run->inputs_fd, bytes.data, bytes.size))
        context_raise(LINK_NO_MEMORY);
    *size += bytes.size;
}

/* Writes the data of an input, and sets the rest of it. */
static void write_input(const struct part_list *run, uint64_t *size, struct job_input *input)
{
    static const uint8_t zeros[ALIGNMENT];
    uint8_t head[FATBIN_HEADER_SIZE] = {0x50, 0xED, 0x55, 0xBA, 1, 0, FATBIN_HEADER_SIZE, 0};
    uint64_t follows = input->data.size;
    struct key key;

    input->offset = *size;
    memcpy(head + 8, &follows, sizeof follows);
    if (input->is_fatbin) /* with a single entry */
        write_bytes(run, size, (struct bytes){head, sizeof head});
    write_bytes(run, size, input->data);
    input->size = *size - input->offset;
    write_bytes(run, size, (struct bytes){zeros, (size_t)(-*size % ALIGNMENT)});
    if (!run->link->cache)
        return;
    key_begin(&key, "LTO input");
    key_number(&key, input->is_fatbin);
    key_bytes(&key, input->data);
    input->key = key_end(&key);
}

void lto_inputs_write(struct part_list *run, enum member_role role)
{
    const struct members *members = run->link->members;
    size_t most = role == MEMBER_LTO ? members->lto_count : members->bitcode_count;
    struct job_input *list = arena_alloc(&run->arena, most, sizeof *list);
    uint64_t size = 0;
    size_t count = 0;

    run->inputs_fd = open_inputs();
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->list[i];
        bool is_fatbin = member->entry.whole.size > 0;

        if (member->role != role)
            continue;
        list[count] =
            (struct job_input){.member = member,
                               .data = is_fatbin ? member->entry.whole : member->entry.payload,
                               .is_fatbin = is_fatbin};
        write_input(run, &size, &list[count++]);
    }
    run->inputs = (struct job_inputs){list, count, role == MEMBER_BITCODE};
}

void lto_inputs_replace(struct part_list *run, struct bytes data)
{
    struct job_input *input = arena_alloc(&run->arena, 1, sizeof *input);
    uint64_t size = 0;

    *input = (struct job_input){.member = run->inputs.list->member, .data = data};
    close(run->inputs_fd);
    run->inputs_fd = -1;
    run->inputs_fd = open_inputs();
    write_input(run, &size, input);
    run->inputs.list = input;
    run->inputs.count = 1;
}

void part_set_job(struct part *part, const char *const *options, const struct job_inputs *inputs)
{
    const struct lto_request *link = part->run->link;
    struct key key;

    part->inputs = *inputs;
    part->job = job_write(&part->run->arena, link->library, options, inputs);
    if (!link->cache)
        return;
    key_begin(&key, "LTO part");
    key_key(&key, link->library_key);
    /* A report verifies what minilink wrote on the other machine, not which libnvJitLink it had. */
    if (link->distribution)
        distribute_add_to_key(&key, link->distribution);
    key_strings(&key, options);
    for (size_t i = 0; i < inputs->count; i++)
        key_key(&key, &inputs->list[i].key);
    part->key = key_end(&key);
}

/* Fills the part if it is in the cache, as if a child had succeeded. */
static bool find_in_cache(struct part *part)
{
    const struct bytes *parts = part->kept.parts;
    struct exec_result *result = &part->result;

    part->started = clock_now();
    if (!cache_lookup(part->run->link->cache, CACHE_LTO, &part->key, &part->kept))
        return false;
    part->nanoseconds = clock_now() - part->started;
    if (parts[PART_PEAK].size != sizeof result->peak ||
        !answer_read(&part->answer, parts[PART_ANSWER])) {
        cache_value_free(&part->kept);
        return false;
    }
    memcpy(&result->peak, parts[PART_PEAK].data, sizeof result->peak);
    result->output_size = parts[PART_OUTPUT].size;
    if (result->output_size)
        result->output =
            memory_copy_string((const char *)parts[PART_OUTPUT].data, result->output_size);
    part->succeeded = true;
    return true;
}

/* Takes the answer, which is malloc'ed, and stores it if the library has succeeded. */
static void take_answer(struct part *part, void *data, size_t size)
{
    const struct exec_result *result = &part->result;
    struct cache_value *kept = &part->kept;

    *kept = (struct cache_value){
        .parts = {[PART_ANSWER] = {data, size},
                  [PART_OUTPUT] = {(const uint8_t *)result->output, result->output_size},
                  [PART_PEAK] = {(const uint8_t *)&result->peak, sizeof result->peak}},
        .nanoseconds = part->nanoseconds,
        .owner = data,
    };
    part->succeeded = answer_read(&part->answer, kept->parts[PART_ANSWER]) &&
                      part->answer.head.step == LTO_STEP_DONE && result->end == EXEC_EXITED &&
                      result->code == LTO_CHILD_ANSWERED;
    if (part->succeeded)
        cache_store(part->run->link->cache, CACHE_LTO, &part->key, kept);
}

/* Without memory for the answer, the child has had none, either. */
static void read_answer(struct part *part, int fd)
{
    struct stat status = {0};
    void *data;

    if (fstat(fd, &status) || status.st_size == 0)
        return;
    data = malloc((size_t)status.st_size);
    if (!data) {
        part->result.end = EXEC_NOT_STARTED;
        part->result.code = ENOMEM;
    } else if (descriptor_read(fd, data, (size_t)status.st_size, 0)) {
        take_answer(part, data, (size_t)status.st_size);
    } else {
        free(data);
    }
}

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
static void run_part_child(struct part *part, int job, int answer)
{
    const struct part_list *run = part->run;
    const struct child_tokens *tokens = child_tokens_get();
    const int pass[] = {job, run->inputs_fd, answer, tokens ? tokens->fds[0] : -1,
                        tokens ? tokens->fds[1] : -1};
    char paths[3][FD_PATH_SIZE], own[PATH_MAX];
    const char *program = run->program ? run->program : self_exec_file(own);
    const char *argv[] = {
        program, run->word, fork_server_files[0], fork_server_files[1], fork_server_files[2], NULL};
    const struct exec_request request = {
        .argv = argv,
        .pass = pass,
        .pass_count = tokens ? 5 : 3,
        .variables = {tokens ? tokens->flags : NULL},
        .fixed_addresses = true,
        .says_end = self_exec_is_program(),
        .output_limit = OUTPUT_LIMIT,
        .timeout = run->link->timeout,
        .cancelled = &part->cancelled,
    };

    if (tokens && tokens->error) {
        part->result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = tokens->error};
        return;
    }
    if (tokens || !run_copy(part, &request, pass)) {
        for (int i = 0; i < 3; i++) {
            snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", pass[i]);
            argv[2 + i] = paths[i];
        }
        exec_run(&request, &part->result);
    }
}

static void cancel_from(struct part_list *run, size_t first)
{
    for (size_t i = run->count; i-- > first;)
        __atomic_store_n(&run->list[i].cancelled, 1, __ATOMIC_SEQ_CST);
}

/* Cancels every part, when the result is no longer wanted. */
static void cancel_parts(void *run)
{
    cancel_from(run, 0);
}

static bool is_cancelled(void *argument)
{
    struct part *part = argument;

    return __atomic_load_n(&part->cancelled, __ATOMIC_RELAXED) != 0;
}

static void run_part_job(void *argument)
{
    struct part *part = argument;
    int job, answer;

    part->result.end = EXEC_CANCELLED;
    if (is_cancelled(part))
        return;
    part->started = clock_now();
    answer = descriptor_memory_file("minilink-lto");
    job = answer < 0 ? -1 : descriptor_memory_file("minilink-lto-job");
    if (job >= 0 && descriptor_write(job, part->job.data, part->job.size))
        run_part_child(part, job, answer);
    else
        part->result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = errno};
    part->nanoseconds = clock_now() - part->started;
    if (answer >= 0) {
        read_answer(part, answer);
        close(answer);
    }
    if (job >= 0)
        close(job);
    if (!part->succeeded)
        cancel_from(part->run, (size_t)(part - part->run->list) + 1);
}

/* Makes tasks of the parts that are not in the cache, and returns their number. */
static size_t make_tasks(struct pool_task *tasks, struct part_list *run)
{
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++) {
        struct part *part = &run->list[i];
        uint32_t priority = part->cost < UINT32_MAX ? (uint32_t)part->cost : UINT32_MAX;

        if (!find_in_cache(part))
            tasks[count++] = (struct pool_task){run_part_job, part, priority, 0};
    }
    return count;
}

/* A part without an answer is left as if its child had found no job. */
static void take_remote_part(struct part *part, struct distribute_job *job)
{
    part->result = (struct exec_result){.end = EXEC_EXITED, .code = LTO_CHILD_NO_JOB};
    if (job->end == DISTRIBUTE_DONE) {
        part->result.code = LTO_CHILD_ANSWERED;
        take_answer(part, job->data, job->size);
        job->data = NULL;
    } else if (job->end == DISTRIBUTE_FAILED && job->code == LINK_NO_MEMORY) {
        part->result.code = LTO_CHILD_NO_MEMORY;
    } else if (job->end == DISTRIBUTE_WRONG) {
        diag_error("The result of %s cannot be used: %s", job->name, job->why);
    }
}

static void run_remote_jobs(struct distribute_batch *batch, const struct pool_task *tasks)
{
    if (distribute_run(batch) != LINK_OK) { /* reported, or a signal */
        for (size_t i = 0; i < batch->count; i++)
            ((struct part *)tasks[i].argument)->result.end = EXEC_CANCELLED;
        return;
    }
    job_messages_report(batch, batch->how != NULL);
    distribute_report_missing(batch);
    for (size_t i = 0; i < batch->count; i++)
        take_remote_part(tasks[i].argument, &batch->jobs[i]);
}

/* Has the distributor run the parts. The report verifies the bytes; their contents are read like
 * every child's answer. */
static void send_parts(struct part_list *run, const struct pool_task *tasks, size_t count)
{
    struct distribute_batch batch = {.distribution = run->link->distribution,
                                     .begins = answer_begins};
    const char *tool = batch.distribution->tool;
    struct bytes inputs;

    if (!descriptor_map(run->inputs_fd, &inputs))
        context_raise(LINK_NO_MEMORY);
    CONTEXT_DEFER(descriptor_unmap, &inputs);
    CONTEXT_DEFER(distribute_free, &batch);
    tool = distribute_is_minilink(tool) ? tool : distribute_own_path(&batch.arena);
    batch.tool = (struct distribute_tool){
        .words = (const char *[]){tool, run->word, NULL},
        .input_suffix = ".job",
        .output_suffix = ".answer",
        .shared = {(const char *)inputs.data, inputs.size},
        .is_positional = true,
        .reports = true,
        .time_limit = run->link->timeout,
    };
    batch.jobs = arena_zalloc(&batch.arena, count, sizeof *batch.jobs);
    for (size_t i = 0; i < count; i++) {
        const struct part *part = tasks[i].argument;

        batch.jobs[batch.count++] = (struct distribute_job){
            .name = arena_printf(&batch.arena, "LTO part %zu", (size_t)(part - run->list)),
            .input = part->job,
            .cost = part->cost};
    }
    run_remote_jobs(&batch, tasks);
}

static uint32_t count_part_threads(struct part_list *run)
{
    const struct lto_request *link = run->link;
    uint64_t *needs = arena_alloc(&run->arena, run->count, sizeof *needs);

    for (size_t i = 0; i < run->count; i++)
        needs[i] = run->list[i].memory;
    return memory_budget_threads(pool_threads(link->threads, link->limits.threads, run->count),
                                 link->limits.memory, needs, run->count);
}

static void run_all(struct part_list *run)
{
    const struct lto_request *link = run->link;
    struct pool_task *tasks = arena_alloc(&run->arena, run->count, sizeof *tasks);
    struct dispatch_request wanted = {
        .tasks = tasks,
        .threads = run->threads = count_part_threads(run),
        .jobserver = link->limits.jobserver,
        .child_threads = run->child_threads,
        .is_cancelled = is_cancelled,
    };

    run->is_repeated |= run->count > run->threads;
    run->word = link->library ? arena_printf(&run->arena, LTO_CHILD_WORD "=%s", link->library)
                              : LTO_CHILD_WORD;
    wanted.count = make_tasks(tasks, run);
    if (wanted.count == 0)
        return;
    cancellation_watch(link->limits.stop, cancel_parts, run);
    if (link->distribution)
        send_parts(run, tasks, wanted.count);
    else if (wanted.count == run->count)
        run->threads = dispatch_run(&wanted);
    else
        dispatch_run(&wanted);
    cancellation_unwatch(link->limits.stop);
}

size_t part_run_all(struct part_list *run, struct arena *texts)
{
    size_t first_failed = run->count;

    run_all(run);
    for (size_t i = run->count; i-- > 0;) {
        struct part *part = &run->list[i];

        if (!part->succeeded)
            first_failed = i;
        else
            part->answer.ptx = arena_text(texts, part->answer.ptx);
    }
    return first_failed;
}

static void free_part_list(struct part_list *run)
{
    for (size_t i = 0; i < run->count; i++) {
        cache_value_free(&run->list[i].kept);
        free(run->list[i].result.output);
    }
    run->count = 0;
}

void part_make_all(struct part_list *run, size_t count)
{
    free_part_list(run);
    run->list = arena_zalloc(&run->arena, count, sizeof *run->list);
    for (size_t i = 0; i < count; i++)
        run->list[i].run = run;
    run->count = count;
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
