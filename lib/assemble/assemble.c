/* assemble.c: Phase II of the link, chunks to cubins. Connects the pool and the assembler.
 *
 * The link thread makes the work items, has them run (dispatch.h), and takes the results in chunk
 * order when all have ended; a worker sees only its own item. */
#include "assemble/internal.h"

#include "base/search.h"
#include "diag/events.h"
#include "os/thread.h"
#include "pool/jobserver.h"

/* Memory that assembling a chunk takes, as measured on ptxas 13.0: 38 MiB for 102 KB of PTX, 65 MiB
 * for 717 KB, 293 MiB for 5.5 MB. */
#define MEMORY_TO_START (UINT64_C(32) << 20)
#define MEMORY_OF_BYTE  64u

/* Functions in the largest chunk: threads inside a chunk share them. */
static uint32_t most_functions(const struct chunks *chunks)
{
    uint32_t most = 0;

    for (size_t i = 0; i < chunks->count; i++)
        RAISE(most, chunks->list[i].function_count);
    return most;
}

/* Sets the number of threads that take chunks, and of threads that the assembler may use inside
 * each chunk. --threads limits their product; --memory-limit the chunks that are assembled at the
 * same time, but not the threads inside a chunk. */
static void count_threads(struct assembly *assembly)
{
    const struct assemble_request *request = assembly->request;
    size_t count = assembly->count;
    uint64_t *needs = arena_alloc(&assembly->arena, count, sizeof *needs);
    uint32_t threads = pool_threads(request->threads, request->limits.threads, count);
    uint32_t inner = threads > 1 ? 1 : request->inner_threads;

    assembly->job.threads = pool_threads(inner, 0, most_functions(assembly->chunks));
    assembly->job.thread_limit = pool_sequential_reason() ? 1 : request->limits.threads / threads;
    for (size_t i = 0; i < count; i++)
        needs[i] = MEMORY_TO_START + MEMORY_OF_BYTE * assembly->chunks->list[i].text.size;
    assembly->threads = memory_budget_threads(threads, request->limits.memory, needs, count);
}

/* The options of a chunk that has some of its own: these, then the request's, of which the limit on
 * registers is a word, too, so that it comes behind them. */
static const char *const *words_with_own(struct assembly *assembly, const char *const *own)
{
    const struct assemble_request *request = assembly->request;
    struct word_list words = {.arena = &assembly->arena};

    word_list_add_all(&words, own);
    if (request->maxrregcount)
        word_list_printf(&words, "-maxrregcount=%u", request->maxrregcount);
    word_list_add_all(&words, request->options);
    return word_list_end(&words);
}

/* Sets the options of chunk `index`; chunks of one program share them. */
static void set_options(struct assembly *assembly, size_t index)
{
    const struct assemble_request *request = assembly->request;
    const struct chunk *chunk = &assembly->chunks->list[index];
    struct chunk_output *output = &assembly->outputs[index];

    if (!chunk->options || !*chunk->options) {
        output->options = request->options;
        output->maxrregcount = request->maxrregcount;
    } else if (index && chunk[-1].options == chunk->options) {
        output->options = output[-1].options;
    } else {
        output->options = words_with_own(assembly, chunk->options);
    }
}

/* minilink-internals(7), Work items: the first of the five steps. */
static void prepare_outputs(struct assembly *assembly)
{
    const struct assemble_request *request = assembly->request;
    const struct chunks *chunks = assembly->chunks;
    size_t count = chunks->count;

    assembly->tasks = arena_alloc(&assembly->arena, count, sizeof *assembly->tasks);
    assembly->items = arena_alloc(&assembly->arena, count, sizeof *assembly->items);
    assembly->outputs = arena_zalloc(&assembly->arena, count, sizeof *assembly->outputs);
    assembly->count = count;
    assembly->first_failed = count;
    assembly->parent = diag_state_get();
    assembly->job = (struct minilink_job){.size = sizeof(struct minilink_job),
                                          .arch = arch_name(request->arch, assembly->arch),
                                          .line_info = request->line_info,
                                          .jobserver = request->limits.jobserver};
    count_threads(assembly);
    for (size_t i = 0; i < count; i++) {
        struct chunk_output *output = &assembly->outputs[i];

        output->index = i;
        output->ptx_size = chunks->list[i].text.size;
        set_options(assembly, i);
        assembly->items[i] = (struct work_item){
            .output_ptr = output,
            .ptx = chunks->list[i].text.data,
            .sm_version = request->arch.sm,
            .debug = request->debug,
            .options = assembly,
            .mode = request->mode,
        };
    }
}

static void make_chunk_tasks(struct assembly *assembly)
{
    struct cache_key common = {0};

    if (assembly->request->cache)
        common = chunk_cache_request(assembly->request);
    for (size_t i = 0; i < assembly->count; i++) {
        uint64_t priority = assembly->chunks->list[i].priority;

        if (!chunk_cache_find(assembly->request->cache, &common, &assembly->chunks->list[i],
                              &assembly->outputs[i]))
            assembly->tasks[assembly->task_count++] =
                (struct pool_task){workitem_run, &assembly->items[i],
                                   priority < UINT32_MAX ? (uint32_t)priority : UINT32_MAX, 0};
    }
}

/* -vv: shows the options of ptxas, wherever it runs. */
static void tell_options(struct assembly *assembly)
{
    const struct chunk_output *outputs = assembly->outputs;

    if (!assembly->request->assembler->ptxas.path || diag_state_get()->verbose < 2)
        return;
    for (size_t i = 0; i < assembly->count; i++) {
        const struct minilink_job job = chunk_job_of(&assembly->items[i]);
        const char *const *options = ptxas_options(&assembly->arena, &job);

        if (i && outputs[i].options == outputs[i - 1].options)
            continue;
        if (assembly->chunks->program_count > 1)
            diag_verbose("from chunk %zu on:", i);
        for (size_t k = 0; options[k]; k++)
            diag_verbose("ptxas is given %s", options[k]);
    }
}

/* The most threads that the options of some chunk ask for inside it. */
static uint32_t child_threads(const struct assembly *assembly)
{
    const struct chunk_output *outputs = assembly->outputs;
    uint32_t most = 1;

    for (size_t i = 0; i < assembly->count; i++)
        if (i == 0 || outputs[i].options != outputs[i - 1].options)
            RAISE(most, child_tokens_threads(outputs[i].options));
    return most;
}

/* minilink-internals(7), Dispatch paths. One chunk in whole-program mode is path 1, one chunk in
 * relocatable mode path 2: both need only this thread. Several chunks are path 3. With one thread
 * they run in chunk order, so that a failure stops the rest at once. */
static uint32_t run_tasks(const struct assembly *assembly)
{
    const struct assemble_request *request = assembly->request;
    /* Assemblers other than ptxas are no children, and use make's jobserver themselves. */
    const struct dispatch_request wanted = {
        .tasks = assembly->tasks,
        .count = assembly->task_count,
        .threads = assembly->threads,
        .jobserver = request->limits.jobserver,
        .child_threads = request->assembler->ptxas.path ? child_threads(assembly) : 1,
        .is_cancelled = workitem_is_cancelled,
    };
    uint32_t threads = assembly->task_count ? dispatch_run(&wanted) : 1;

    return assembly->task_count == assembly->count ? threads : assembly->threads;
}

/* Most stored options that a note names. */
#define MOST_NAMED 16

/* Says where the options came from that the assembler refused. */
static void tell_origin(const struct assembly *assembly, const struct chunk *chunk)
{
    const char *const *stored = chunk->options;
    LOCAL_BUFFER(words);

    for (size_t i = 0; stored && stored[i] && i <= MOST_NAMED; i++)
        buffer_printf(&words, "%s%s", i ? " " : "", i < MOST_NAMED ? stored[i] : "...");
    if (words.size)
        diag_note("the PTX has these options stored with it, which were its compiler's: %.*s; "
                  "--ignore-stored-options leaves them out",
                  TEXT_ARG(buffer_view(&words)));
    if (assembly->request->options && *assembly->request->options)
        diag_note("-Xptxas hands options to the assembler, here %s",
                  assembly->request->assembler->table.name);
}

/* Says which ptxas is older than the PTX or target, and what to give; by words of 11.8 to 13.5. */
static void note_outdated(const struct assembly *assembly, const char *log)
{
    const char *path = assembly->request->assembler->ptxas.path;

    if (path && log &&
        (strstr(log, "Unsupported .version ") ||
         strstr(log, "not defined for option 'gpu-name'"))) {
        diag_note("ptxas is '%s', of a CUDA that is too old for this", path);
        diag_note(TOOLKIT_NAME_IT ", or its ptxas by --ptxas=; -vv tells what is taken and why");
    }
}

/* `is_said`: the assembler has reported an error for the chunk. */
static void report_failure(const struct assembly *assembly, size_t index, bool is_said)
{
    const struct chunk *chunk = &assembly->chunks->list[index];
    int code = assembly->items[index].result;
    char name[CHUNK_NAME_SIZE];

    if (code == LINK_USAGE)
        tell_origin(assembly, chunk);
    if (is_said && (code == LINK_FAILED || code == LINK_USAGE || code == LINK_ENVIRONMENT) &&
        !diag_state_get()->verbose)
        return;
    diag_error("%s: %s of %zu, with function '%s', could not be assembled by '%s' (code %d)",
               assembler_code_text(code), chunk_job_name(index, name), assembly->count,
               chunk->first_function ? chunk->first_function : "",
               assembly->request->assembler->table.name, code);
}

/* Prints the messages about chunks that make one program, as messages about the program. */
static void report_program(struct assembly *assembly)
{
    const char **logs = arena_alloc(&assembly->arena, assembly->count, sizeof *logs);

    for (size_t i = 0; i < assembly->count; i++)
        logs[i] = assembly->outputs[i].result.log;
    log_replay_exact(assembly->chunks, logs);
}

/* The limit in an error of ptxas (11.8 to 13.5) about the registers of a function in the same
 * chunk: "Entry function 'k' with max regcount of 32 calls function 'g' with regcount of 140". The
 * smallest if there are several, UINT32_MAX if there are other errors. */
static uint32_t register_limit(const char *log)
{
    static const char words[] = "with max regcount of ";
    uint32_t limit = UINT32_MAX;

    for (struct text rest = text_of(log), line; text_scan_line(&rest, &line);) {
        const char *found;
        unsigned long value;

        if (!memmem(line.data, line.size, "error", 5))
            continue;
        found = memmem(line.data, line.size, words, sizeof words - 1);
        value = found ? strtoul(found + sizeof words - 1, NULL, 10) : 0;
        if (value == 0 || value >= UINT32_MAX)
            return UINT32_MAX;
        if (value < limit)
            limit = (uint32_t)value;
    }
    return limit;
}

/* Prints, in chunk order, the messages about every chunk up to the first that failed; which later
 * chunks were run depends on timing. With keep_going all were run, and all are printed. */
static enum link_code report_results(struct assembly *assembly)
{
    const struct chunk_output *outputs = assembly->outputs;
    size_t count = assembly->count, failed = assembly->first_failed;
    uint64_t errors = diag_error_count();
    bool is_program = assembly->chunks->is_exact && failed >= count;

    for (size_t i = 0; i < count; i++) {
        bool has_failed = assembly->items[i].result != LINK_OK;
        uint64_t before = diag_error_count();
        uint32_t limit;

        if (i > failed && !assembly->request->keep_going)
            break;
        if (i != failed && assembly->items[i].result == LINK_CANCELLED)
            continue;
        diag_replay(&assembly->outputs[i].sink);
        if (!is_program)
            log_replay(assembly->chunks, &assembly->chunks->list[i], text_of(outputs[i].result.log),
                       has_failed);
        limit = has_failed ? register_limit(outputs[i].result.log) : UINT32_MAX;
        if (limit < UINT32_MAX)
            diag_note("-Xptxas=-func-maxrregcount=%u makes such functions fit", limit);
        if (has_failed && i == failed)
            note_outdated(assembly, outputs[i].result.log);
        if (has_failed)
            report_failure(assembly, i, diag_error_count() > before);
    }
    if (is_program)
        report_program(assembly);
    if (failed < count) {
        const char *const *stored = assembly->chunks->list[failed].options;
        enum link_code code = (enum link_code)assembly->items[failed].result;

        /* Options that are stored in an input are no error of the command line. */
        return code == LINK_USAGE && stored && *stored ? LINK_FAILED : code;
    }
    return diag_error_count() > errors ? LINK_FAILED : LINK_OK;
}

/* Hands the cubins to the caller, or frees them; frees everything else. */
static void free_assembly(struct assembly *assembly, bool keep)
{
    struct cubins *cubins = assembly->cubins;

    for (size_t i = 0; i < assembly->count; i++) {
        struct chunk_output *output = &assembly->outputs[i];
        struct minilink_result *result = &output->result;

        if (keep)
            cubins->list[i] =
                (struct chunk_cubin){result->cubin, result->cubin_size, output->nanoseconds};
        else
            free(result->cubin);
        free(result->log);
        diag_sink_free(&output->sink);
    }
    arena_free(&assembly->arena);
    if (!keep)
        cubins_free(cubins);
}

static enum link_code run_assembly(void *argument)
{
    struct assembly *assembly = argument;
    struct cubins *cubins = assembly->cubins;
    enum link_code code = LINK_OK, reported;

    prepare_outputs(assembly);
    cubins->list = memory_zalloc(assembly->count, sizeof *cubins->list);
    cubins->count = assembly->count;
    tell_options(assembly);
    cancellation_watch(assembly->request->limits.stop, workitem_cancel_all, assembly);
    make_chunk_tasks(assembly);
    if (assembly->request->distribution)
        code = remote_chunks_run(assembly->request, assembly->chunks, assembly->tasks,
                                 assembly->task_count);
    else
        cubins->threads = run_tasks(assembly);
    /* Only one thread runs now, and every token has been returned. */
    if (cancellation_is_set(assembly->request->limits.stop) ||
        (assembly->request->trial && assembly->request->trial->has_failed))
        return LINK_CANCELLED;
    reported = report_results(assembly);
    return code == LINK_OK ? reported : code;
}

enum link_code assemble_chunks(struct cubins *cubins, const struct chunks *chunks,
                               const struct assemble_request *request)
{
    struct assembly assembly = {.chunks = chunks, .request = request, .cubins = cubins};
    /* If memory runs out in the link thread, the workers' results must still be freed. */
    enum link_code code = context_run(run_assembly, &assembly);

    cancellation_unwatch(request->limits.stop);
    free_assembly(&assembly, code == LINK_OK);
    return code;
}

void cubins_free(void *argument)
{
    struct cubins *cubins = argument;

    for (size_t i = 0; i < cubins->count; i++)
        free(cubins->list[i].data);
    free(cubins->list);
    *cubins = (struct cubins){0};
}
