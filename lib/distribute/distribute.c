/* distribute.c: writes the files of a batch. With a distributor, into a private folder, then runs
 * it; with a plan, to stay, for a build system that runs the jobs before a later link. */
#include "distribute/internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "diag/log_line.h"
#include "os/exec.h"
#include "os/file.h"
#include "os/program.h"
#include "output/output.h"

/* Most bytes that are kept of a distributor's output. */
#define OUTPUT_LIMIT (4u << 20)

/* Largest plan that is read; a plan of 10,000 jobs has 6 MB. */
#define PLAN_LIMIT ((size_t)1 << 30)

/* Most lines shown as explanation of a distributor's failure: the last ones. */
#define MOST_NOTES 20

/* Most jobs without a result that are named in the message. */
#define MOST_NAMED 8

/* Adds words to a hash, each with its NUL, so that no two lists of words are the same bytes. */
static void hash_words(XXH128_hash_t *hash, const char *const *words)
{
    for (size_t i = 0; words && words[i]; i++) {
        XXH128_hash_t both[2] = {*hash, XXH3_128bits(words[i], strlen(words[i]) + 1)};

        *hash = XXH3_128bits(both, sizeof both);
    }
}

static XXH128_hash_t hash_job(const struct distribute_batch *batch,
                              const struct distribute_job *job)
{
    XXH128_hash_t parts[2] = {{0, 0}, XXH3_128bits(job->input.data, job->input.size)};

    hash_words(&parts[0], batch->tool.words);
    hash_words(&parts[0], job->words);
    return XXH3_128bits(parts, sizeof parts);
}

void distribute_add_to_key(struct key *key, const struct distribution *distribution)
{
    key_string(key, "as made by");
    key_string(key, distribution->program);
    key_strings(key, distribution->arguments);
    key_string(key, distribution->tool);
}

bool distribute_is_minilink(const char *tool)
{
    return tool && strcmp(basename(tool), "minilink") == 0;
}

const char *distribute_own_path(struct arena *arena)
{
    char path[PATH_MAX];

    return arena_string(arena, text_of(self_exec_path(path)));
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

static enum link_code write_file(const char *path, struct text text)
{
    if (files_write(path, text_bytes(text)))
        return LINK_OK;
    diag_fatal("Could not write '%s': %s", path, strerror(errno));
    return LINK_ENVIRONMENT;
}

/* Writes the job file, or a job's facts file (jobfile_make). */
static enum link_code write_jobfile(const char *path, const struct distribute_batch *batch,
                                    const struct distribute_job *job)
{
    char *text = jobfile_make(batch, job);

    if (!text)
        return LINK_FAILED;
    CONTEXT_DEFER(memory_cleanup, &text);
    return write_file(path, text_of(text));
}

static enum link_code write_inputs(const struct distribute_batch *batch)
{
    const struct distribute_tool *tool = &batch->tool;
    enum link_code code = tool->shared_path ? write_file(tool->shared_path, tool->shared) : LINK_OK;

    for (size_t i = 0; i < batch->count && code == LINK_OK; i++) {
        const struct distribute_job *job = &batch->jobs[i];

        code =
            write_file(job->input_path, job->input) ?: write_jobfile(job->facts_path, batch, job);
    }
    return code;
}

/* Describes how the distributor ended; NULL when it succeeded. */
static const char *describe_end(struct arena *arena, const struct exec_result *result)
{
    char text[128];

    if (result->end == EXEC_TIMED_OUT)
        return arena_printf(arena, "was ended, as it took more than %d s (--timeout for each job)",
                            result->code);
    return exec_describe_end(result, text, sizeof text) ? arena_string(arena, text_of(text)) : NULL;
}

/* The jobs whose logs are not known, by the file names of their inputs, which have one length and
 * are unique: a line with such a name is about that job. */
struct names {
    struct table jobs;
    size_t size;
};

/* The job whose input the line names, or TABLE_NONE. The name follows a slash. */
static uint32_t find_job(const struct names *names, struct text line)
{
    const char *slash = line.data, *end = line.data + line.size;
    uint32_t found = TABLE_NONE;

    while (found == TABLE_NONE && (slash = memchr(slash, '/', (size_t)(end - slash))) != NULL) {
        slash++;
        if ((size_t)(end - slash) < names->size)
            break;
        found = table_find(&names->jobs, (struct text){slash, names->size});
    }
    return found;
}

static void attribute_line(struct distribute_batch *batch, struct distribute_job *job,
                           struct text line)
{
    struct buffer *to = job ? &job->log : &batch->loose;
    struct log_line message;

    buffer_text(to, line);
    buffer_char(to, '\n');
    if (job && job->end == DISTRIBUTE_MISSING && log_line_parse(line, &message) &&
        message.severity >= DIAG_ERROR) {
        job->end = DISTRIBUTE_FAILED;
        job->code = LINK_FAILED;
    }
}

/* Gives each job whose log is not known the lines that name its input, as ptxas's messages about a
 * line of it do; a job with an error among them, and no result, has failed. Others are loose. */
static void attribute_messages(struct distribute_batch *batch)
{
    struct text rest = text_of(batch->said), line;
    struct names names = {0};

    CONTEXT_DEFER(table_cleanup, &names.jobs);
    for (size_t i = 0; i < batch->count; i++) {
        struct text name = text_of(basename(batch->jobs[i].input_path));

        names.size = name.size;
        if (!batch->jobs[i].is_log_known)
            table_add(&names.jobs, name, (uint32_t)i);
    }
    while (text_scan_line(&rest, &line)) {
        uint32_t found = find_job(&names, line);

        attribute_line(batch, found == TABLE_NONE ? NULL : &batch->jobs[found], line);
    }
    /* A log is complete only if every line could be attributed. */
    for (size_t i = 0; i < batch->count; i++)
        batch->jobs[i].is_log_known |= batch->loose.size == 0;
}

static void take_results(struct distribute_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        result_take(batch, &batch->jobs[i]);
    attribute_messages(batch);
}

static enum link_code call_distributor(struct distribute_batch *batch, const char *program,
                                       const char *jobs)
{
    struct word_list words = {.arena = &batch->arena};
    /* It may run the jobs one after the other. */
    uint64_t limit = (uint64_t)batch->tool.time_limit * batch->count;
    struct exec_request request = {.output_limit = OUTPUT_LIMIT,
                                   .timeout = limit > INT32_MAX ? INT32_MAX : (unsigned)limit,
                                   .is_asked_first = true,
                                   .cancelled = batch->distribution->cancelled};
    struct exec_result ended;

    word_list_add(&words, program);
    word_list_add_all(&words, batch->distribution->arguments);
    word_list_add(&words, jobs);
    request.argv = word_list_end(&words);
    exec_run(&request, &ended);
    batch->said = ended.output;
    if (ended.end == EXEC_NOT_STARTED && ended.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    if (ended.end == EXEC_CANCELLED)
        return LINK_CANCELLED;
    batch->how = describe_end(&batch->arena, &ended);
    take_results(batch);
    return LINK_OK;
}

enum link_code distribute_run(struct distribute_batch *batch)
{
    const char *wanted = batch->distribution->program, *jobs;
    char program[PATH_MAX];
    struct folder folder = {0};

    if (!program_path_find(wanted, program)) {
        diag_fatal("Could not find the distributor '%s' on PATH", wanted);
        return LINK_ENVIRONMENT;
    }
    CONTEXT_DEFER(folder_remove, &folder);
    if (!folder_make(&folder, batch->distribution->output)) {
        diag_fatal("Could not make a folder for the files of jobs: %s", strerror(errno));
        return LINK_ENVIRONMENT;
    }
    distribute_name_files(batch, folder.path);
    jobs = arena_printf(&batch->arena, "%s/jobs.json", folder.path);
    return write_inputs(batch) ?: write_jobfile(jobs, batch, NULL)
           ?: call_distributor(batch, program, jobs);
}

static const char *plan_folder(struct distribute_batch *batch, const char *plan)
{
    /* A path that begins with a dash would be read as an option. */
    return arena_printf(&batch->arena, "%s%s.d", *plan == '-' ? "./" : "", plan);
}

/* The digits at the beginning of a job's file name, or an empty text for any other name. */
static struct text stem_of(const char *name)
{
    return strspn(name, "0123456789abcdef") == JOBFILE_STEM && name[JOBFILE_STEM] == '.'
               ? (struct text){name, JOBFILE_STEM}
               : (struct text){0};
}

static void close_folder(void *folder)
{
    closedir(folder);
}

/* Removes the files of jobs that are no longer in the plan. Failures do no harm. */
static void remove_others(const struct distribute_batch *batch, const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    LOCAL_TABLE(stems);

    if (!folder)
        return;
    CONTEXT_DEFER(close_folder, folder);
    for (size_t i = 0; i < batch->count; i++)
        table_add(&stems, stem_of(basename(batch->jobs[i].input_path)), 1);
    while ((entry = readdir(folder))) {
        struct text stem = stem_of(entry->d_name);

        if (stem.size && table_find(&stems, stem) == TABLE_NONE)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
}

enum link_code distribute_emit_plan(struct distribute_batch *batch)
{
    const char *plan = batch->distribution->emit_plan, *folder = plan_folder(batch, plan);
    enum link_code code;
    struct bytes bytes;
    char *text = NULL;

    if (mkdir(folder, 0777) && errno != EEXIST) {
        diag_fatal("Could not make folder '%s': %s", folder, strerror(errno));
        return LINK_ENVIRONMENT;
    }
    distribute_name_files(batch, folder);
    code = write_inputs(batch);
    if (code != LINK_OK)
        return code;
    CONTEXT_DEFER(memory_cleanup, &text);
    text = jobfile_make(batch, NULL);
    if (!text)
        return LINK_FAILED;
    /* Whole or not at all, and only if it has changed. */
    bytes = text_bytes(text_of(text));
    if (!files_hold(plan, bytes) && !output_write_file(plan, bytes))
        return LINK_ENVIRONMENT;
    remove_others(batch, folder);
    return LINK_OK;
}

static enum link_code check_plan(struct distribute_batch *batch)
{
    const char *plan = batch->distribution->resume_plan, *why = NULL;
    struct file_contents contents = {0};
    bool is_read;

    CONTEXT_DEFER(files_cleanup, &contents);
    is_read = files_read(&contents, plan, PLAN_LIMIT);
    if (!is_read)
        diag_fatal("Could not read plan '%s': %s", plan, files_why());
    else if (!jobfile_is_of((struct text){contents.data, contents.size}, batch, &why))
        diag_fatal("Plan '%s' is not that of this link: %s", plan, why);
    if (why)
        diag_note("Write it again (--emit-plan=) and run its jobs");
    return !is_read ? LINK_ENVIRONMENT : why ? LINK_FAILED : LINK_OK;
}

enum link_code distribute_resume_plan(struct distribute_batch *batch)
{
    enum link_code code;

    distribute_name_files(batch, plan_folder(batch, batch->distribution->resume_plan));
    code = check_plan(batch);
    if (code == LINK_OK)
        take_results(batch);
    return code;
}

/* The last `most` lines of the text. */
static struct text last_lines(struct text text, size_t most)
{
    size_t at = text.size;

    while (at > 0)
        if (text.data[--at] == '\n' && at + 1 < text.size && --most == 0)
            return (struct text){text.data + at + 1, text.size - at - 1};
    return text;
}

void job_messages_report(const struct distribute_batch *batch, bool explains)
{
    const char *program = batch->distribution->program;
    struct text rest = buffer_view(&batch->loose), line;
    const struct diag_place nowhere = {0};
    struct log_line message;

    if (batch->how)
        diag_fatal("The distributor '%s' %s", program, batch->how);
    if (explains)
        rest = last_lines(rest, MOST_NOTES);
    while (text_scan_line(&rest, &line)) {
        if (explains)
            diag_note("%s: %.*s", program, TEXT_ARG(line));
        else if (log_line_parse(line, &message))
            diag_at(message.severity, &nowhere, "%.*s", TEXT_ARG(message.text));
        else
            diag_verbose("%s: %.*s", program, TEXT_ARG(line));
    }
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

void distribute_free(void *argument)
{
    struct distribute_batch *batch = argument;

    for (size_t i = 0; i < batch->count; i++) {
        free(batch->jobs[i].data);
        batch->jobs[i].data = NULL;
        buffer_free(&batch->jobs[i].log);
    }
    free(batch->said);
    batch->said = NULL;
    buffer_free(&batch->loose);
    arena_free(&batch->arena);
}
