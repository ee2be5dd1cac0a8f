/* remote_chunks.c: makes jobs from items, the command of a job, and items' results from jobs; and,
 * on the other machine, does such a job. */
#include "assemble/internal.h"

#include "diag/events.h"
#include "distribute/files.h"
#include "output/output.h"
#include "ptx/lexer.h"

/* One call of remote_chunks_run. */
struct sending {
    const struct assemble_request *request;
    const struct chunks *chunks;
    const struct pool_task *tasks; /* of work items, beside the batch's jobs */
    struct distribute_batch batch;
};

static struct work_item *sent_item(const struct sending *sending, size_t index)
{
    return sending->tasks[index].argument;
}

/* Memory of a job. Measured on sm_90, kernels of 6 KB of PTX: ptxas 13.0 takes 26 MiB for one, 83
 * MiB for 1.8 MB of them and 320 MiB for 9 MB, the built-in assembler 13, 20 and 48 MiB; one large
 * kernel takes more than many small ones. */
#define PTXAS_MEMORY          ((uint64_t)64 << 20)
#define PTXAS_MEMORY_PER_BYTE 64u
#define OWN_MEMORY            ((uint64_t)32 << 20)
#define OWN_MEMORY_PER_BYTE   8u

/* The options of ptxas for a job; or those of minilink, which hands them to an assembler. */
static const char *const *words_of(struct sending *sending, size_t index)
{
    const struct minilink_job job = chunk_job_of(sent_item(sending, index));
    struct word_list words = {.arena = &sending->batch.arena};

    if (!sending->batch.tool.reports)
        return ptxas_options(&sending->batch.arena, &job);
    if (job.maxrregcount)
        word_list_printf(&words, "-maxrregcount=%u", job.maxrregcount);
    for (size_t i = 0; job.options && job.options[i]; i++)
        word_list_printf(&words, "-Xptxas=%s", job.options[i]);
    return word_list_end(&words);
}

/* Whether all jobs have the same options, which are then the tool's. */
static bool are_alike(const struct sending *sending)
{
    for (size_t i = 1; i < sending->batch.count; i++)
        if (sent_item(sending, i)->output_ptr->options !=
            sent_item(sending, 0)->output_ptr->options)
            return false;
    return true;
}

/* Adds the options of a struct single_chunk_request. Any assembler other than ptxas is minilink's,
 * or is called through minilink. */
static void use_minilink(struct sending *sending, const struct minilink_job *job,
                         const char *version, struct word_list *words)
{
    const struct assemble_request *request = sending->request;
    const struct diag_state *state = diag_state_get();
    const char *tool = request->distribution->tool;
    const char *name = request->wanted->name ? request->wanted->name : assembler_names()[0];
    const char *plugin = assembler_plugin_path(name);
    struct word_list inputs = {.arena = words->arena};

    word_list_add(words, tool ? tool : distribute_own_path(words->arena));
    word_list_add(words, job->mode == MINILINK_MODE_WHOLE ? "--assemble-chunk=whole"
                                                          : "--assemble-chunk=relocatable");
    word_list_printf(words, "--assembler=%s", name);
    word_list_printf(words, "--assembler-version=%s", version);
    word_list_printf(words, "-arch=%s", job->arch);
    if (request->assembler->ptxas.path)
        word_list_printf(words, "--ptxas=%s", request->assembler->ptxas.path);
    if (job->debug)
        word_list_add(words, "-g");
    if (job->line_info)
        word_list_add(words, "-lineinfo");
    if (state->suppress_warnings)
        word_list_add(words, "-w");
    if (state->warnings_are_errors)
        word_list_add(words, "-Werror");
    sending->batch.tool.reports = true;
    if (plugin) {
        word_list_add(&inputs, plugin);
        sending->batch.tool.inputs = word_list_end(&inputs);
    }
}

static void choose_tool(struct sending *sending, const char *version)
{
    const struct assemble_request *request = sending->request;
    const struct minilink_job job = chunk_job_of(sent_item(sending, 0));
    struct distribute_tool *tool = &sending->batch.tool;
    struct word_list words = {.arena = &sending->batch.arena};
    bool is_ptxas = request->assembler->ptxas.path != NULL;

    tool->input_suffix = ".ptx";
    tool->output_suffix = ".cubin";
    tool->time_limit = request->wanted->timeout;
    tool->memory = is_ptxas ? PTXAS_MEMORY : OWN_MEMORY;
    tool->memory_per_byte = is_ptxas ? PTXAS_MEMORY_PER_BYTE : OWN_MEMORY_PER_BYTE;
    /* ptxas is run directly, so that sccache, and users who look at a list of processes, recognise
     * it; a distributor may or may not keep the messages of jobs separate. */
    if (chunk_job_is_reported(request))
        use_minilink(sending, &job, version, &words);
    else
        word_list_add(&words, request->distribution->tool ?: request->assembler->ptxas.path);
    if (are_alike(sending))
        word_list_add_all(&words, words_of(sending, 0));
    else
        for (size_t i = 0; i < sending->batch.count; i++)
            sending->batch.jobs[i].words = words_of(sending, i);
    tool->words = word_list_end(&words);
}

/* Finds the names after `.entry`; in the batch's arena. */
static void find_job_kernels(struct arena *arena, struct distribute_job *job)
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

static void make_remote_jobs(struct sending *sending, size_t count)
{
    struct distribute_batch *batch = &sending->batch;

    batch->jobs = arena_zalloc(&batch->arena, count, sizeof *batch->jobs);
    batch->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct work_item *item = sent_item(sending, i);
        size_t index = item->output_ptr->index;
        char name[CHUNK_NAME_SIZE];

        batch->jobs[i] = (struct distribute_job){
            .name = arena_string(&batch->arena, text_of(chunk_job_name(index, name))),
            .input = {item->ptx, item->output_ptr->ptx_size},
            .cost = sending->chunks->list[index].weight,
            .function = sending->chunks->list[index].first_function,
        };
        find_job_kernels(&batch->arena, &batch->jobs[i]);
    }
}

/* Reports what a worker would have reported about its chunk. */
static void report_wrong(const struct distribute_job *job, struct diag_sink *sink)
{
    struct diag_diversion heard;

    diag_divert(&heard, sink);
    CONTEXT_DEFER(diag_divert_end, &heard);
    diag_error("The result of %s cannot be used: %s", job->name, job->why);
}

static void take_chunk_job(struct work_item *item, struct distribute_job *job)
{
    struct chunk_output *output = item->output_ptr;

    output->result.log = job->log.size ? buffer_take(&job->log, NULL) : NULL;
    switch (job->end) {
    case DISTRIBUTE_DONE:
        output->result.cubin = job->data;
        output->result.cubin_size = job->size;
        job->data = NULL;
        item->result = LINK_OK;
        /* Without the job's messages, a later link would print fewer. */
        if (job->is_log_known)
            chunk_cache_keep(item->options->request->cache, output);
        break;
    case DISTRIBUTE_FAILED:
        item->result = (int32_t)job->code;
        atomic_store(&item->options->first_failed, output->index);
        break;
    case DISTRIBUTE_WRONG:
        item->result = LINK_FAILED;
        atomic_store(&item->options->first_failed, output->index);
        report_wrong(job, &output->sink);
        break;
    case DISTRIBUTE_MISSING:
        item->result = LINK_CANCELLED;
        break;
    }
}

/* Reports a failed distributor, and moves the jobs' results to the items. If a job has failed, its
 * own messages follow, and say more than the distributor's. A missing result is an error only if no
 * job has failed: else the distributor had a reason to leave it out. */
static enum link_code take_remote_results(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;
    bool has_failure = false, has_missing = false;

    for (size_t i = 0; i < batch->count; i++) {
        enum distribute_end end = batch->jobs[i].end;

        has_failure |= end == DISTRIBUTE_FAILED || end == DISTRIBUTE_WRONG;
        has_missing |= end == DISTRIBUTE_MISSING;
    }
    job_messages_report(batch, batch->how && !has_failure);
    for (size_t i = batch->count; i-- > 0;) /* the first that failed is noted last */
        take_chunk_job(sent_item(sending, i), &batch->jobs[i]);
    if (has_missing && !has_failure)
        distribute_report_missing(batch);
    if (batch->how)
        return LINK_FAILED;
    return has_missing && !has_failure ? LINK_ENVIRONMENT : LINK_OK;
}

static enum link_code run_jobs(struct sending *sending)
{
    struct distribute_batch *batch = &sending->batch;
    const struct distribution *distribution = batch->distribution;
    enum link_code code;
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
    return take_remote_results(sending);
}

enum link_code remote_chunks_run(const struct assemble_request *request,
                                 const struct chunks *chunks, const struct pool_task *tasks,
                                 size_t count)
{
    const struct distribution *distribution = request->distribution;
    struct verify_cubin_expectation expectation = {.arch = request->arch, .mode = request->mode};
    struct sending sending = {.request = request,
                              .chunks = chunks,
                              .tasks = tasks,
                              .batch = {.distribution = distribution,
                                        .watch = distribution->resume_plan ? request->watch : NULL,
                                        .check = verify_cubin,
                                        .check_argument = &expectation,
                                        .begins = verify_cubin_begins}};
    const char *version;

    if (count == 0 && !distribution->emit_plan)
        return LINK_OK;
    version = assembler_version(request->assembler);
    if (!version)
        return LINK_ENVIRONMENT;
    CONTEXT_DEFER(distribute_free, &sending.batch);
    make_remote_jobs(&sending, count);
    choose_tool(&sending, version);
    expectation.is_vouched_for = sending.batch.tool.reports;
    return distribution->emit_plan ? distribute_emit_plan(&sending.batch) : run_jobs(&sending);
}

enum link_code remote_chunks_plan_nothing(const struct distribution *distribution)
{
    struct sending sending = {.batch = {.distribution = distribution}};
    struct distribute_tool *tool = &sending.batch.tool;
    struct word_list words = {.arena = &sending.batch.arena};

    CONTEXT_DEFER(distribute_free, &sending.batch);
    word_list_add(&words, distribute_own_path(words.arena));
    tool->words = word_list_end(&words);
    tool->input_suffix = tool->output_suffix = "";
    return distribute_emit_plan(&sending.batch);
}

/* The other machine's side: one chunk. */

/* Largest chunk that is read. */
#define INPUT_LIMIT ((size_t)4 << 30)

static enum link_code open_all(const struct single_chunk_request *request,
                               struct file_contents *input, struct assembler *assembler)
{
    const char *version;

    if (!files_read(input, request->input, INPUT_LIMIT)) {
        diag_fatal("Could not open input file '%s': %s", request->input, files_why());
        return LINK_ENVIRONMENT;
    }
    if (input->size == 0) {
        diag_fatal("Input file '%s' is empty", request->input);
        return LINK_FAILED;
    }
    if (!assembler_open(assembler, &request->assembler))
        return LINK_ENVIRONMENT;
    if (!request->version)
        return LINK_OK;
    version = assembler_version(assembler);
    if (!version)
        return LINK_ENVIRONMENT;
    if (strcmp(request->version, version) != 0) {
        diag_fatal("The assembler '%s' is here '%s', and the link has '%s': both must be of one "
                   "version of minilink",
                   assembler->table.name, version, request->version);
        return LINK_ENVIRONMENT;
    }
    return LINK_OK;
}

/* The chunk has a neutral name, so that the same chunk gives the same report in every link. */
static enum link_code assemble_single(const struct single_chunk_request *request,
                                      const struct file_contents *input,
                                      const struct minilink_assembler *table,
                                      struct minilink_result *result)
{
    const int cancelled = 0;
    char arch[ARCH_NAME_SIZE];
    const struct minilink_job job = {.size = sizeof job,
                                     .name = "chunk",
                                     .ptx = input->data,
                                     .ptx_size = input->size,
                                     .arch = arch_name(request->arch, arch),
                                     .sm = request->arch.sm,
                                     .debug = request->debug,
                                     .line_info = request->line_info,
                                     .mode = request->mode,
                                     .maxrregcount = request->maxrregcount,
                                     .options = request->options,
                                     .cancelled = &cancelled,
                                     .threads = 1,
                                     .thread_limit = 1,
                                     .jobserver = MINILINK_JOBSERVER_OFF};

    return workitem_code((enum link_code)table->assemble(table->state, &job, result), result);
}

enum link_code single_chunk_run(const struct single_chunk_request *request)
{
    struct assembler assembler = {0};
    struct file_contents input = {0};
    struct minilink_result result = {.size = sizeof result};
    LOCAL_BUFFER(report);
    struct bytes cubin = {0};

    CONTEXT_DEFER(assembler_close, &assembler);
    CONTEXT_DEFER(memory_cleanup, &input.data);
    CONTEXT_DEFER(memory_cleanup, &result.cubin);
    CONTEXT_DEFER(memory_cleanup, &result.log);
    enum link_code code = open_all(request, &input, &assembler);
    if (code != LINK_OK)
        return code;
    code = assemble_single(request, &input, &assembler.table, &result);
    struct text log = text_of(result.log);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK)
        cubin = (struct bytes){result.cubin, result.cubin_size};
    if (code == LINK_OK && !output_write_file(request->output, cubin))
        return LINK_ENVIRONMENT;
    if (request->report)
        job_report_write(&report, code, files_bytes(&input), cubin, log);
    if (request->report && !output_write_file(request->report, buffer_bytes(&report)))
        return LINK_ENVIRONMENT;
    /* Without a report the messages are printed. */
    if ((!request->report || code != LINK_OK) && log.data)
        diag_text(log);
    if (code != LINK_OK)
        diag_error("%s: '%s' could not be assembled by '%s' (code %d)",
                   assembler_code_text((int)code), request->input, assembler.table.name, (int)code);
    return code;
}
