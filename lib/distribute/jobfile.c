/* jobfile.c: makes the job file and jobs' facts files; knows a job file by its outputs' names. */
#include "distribute/internal.h"

#include "diag/diag.h"
#include "diag/escape.h"
#include "diag/json_tree.h"

struct maker {
    const struct distribute_batch *batch;
    struct arena arena;   /* for composed words */
    const char *not_utf8; /* the first string that JSON cannot hold */
};

/* The string as a view; an empty one if JSON cannot hold it. */
static struct text checked(struct maker *maker, const char *string)
{
    if (escape_is_utf8(text_of(string)))
        return text_of(string);
    if (!maker->not_utf8)
        maker->not_utf8 = string;
    return TEXT("");
}

static void push_json_string(struct maker *maker, json_t *array, const char *string)
{
    json_tree_push(array, json_tree_exact(checked(maker, string)));
}

/* Appends the strings; `list` ends with NULL, and may be NULL. */
static void push_list(struct maker *maker, json_t *array, const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        push_json_string(maker, array, list[i]);
}

static void push_words(struct maker *maker, json_t *words, const struct distribute_job *job)
{
    const struct distribute_tool *tool = &maker->batch->tool;

    push_list(maker, words, job->words);
    push_json_string(maker, words, job->input_path);
    if (tool->is_positional) {
        push_json_string(maker, words, tool->shared_path);
        push_json_string(maker, words, job->output_path);
        push_json_string(maker, words, job->report_path);
        return;
    }
    if (tool->reports)
        push_json_string(maker, words,
                         arena_printf(&maker->arena, "--chunk-report=%s", job->report_path));
    push_json_string(maker, words, "-o");
    push_json_string(maker, words, job->output_path);
}

static void add_job(struct maker *maker, json_t *jobs, const struct distribute_job *job)
{
    json_t *object = json_tree_push(jobs, json_object());
    const char *const inputs[] = {job->input_path, job->facts_path, NULL};
    const char *const outputs[] = {job->output_path,
                                   maker->batch->tool.reports ? job->report_path : NULL, NULL};

    push_words(maker, json_tree_set(object, "args", json_array()), job);
    push_list(maker, json_tree_set(object, "inputs", json_array()), inputs);
    push_list(maker, json_tree_set(object, "outputs", json_array()), outputs);
}

static void add_jobs(struct maker *maker, json_t *root)
{
    const struct distribute_batch *batch = maker->batch;
    const char *output = batch->distribution->output; /* NULL if the output stays in memory */
    json_t *common = json_tree_set(root, "common", json_object());
    json_t *jobs = json_tree_set(root, "jobs", json_array()), *inputs;

    json_tree_set(common, "linker_output", json_tree_exact(checked(maker, output ? output : "")));
    push_list(maker, json_tree_set(common, "args", json_array()), batch->tool.words);
    inputs = json_tree_set(common, "inputs", json_array());
    push_list(maker, inputs, batch->tool.inputs);
    if (batch->tool.shared_path)
        push_json_string(maker, inputs, batch->tool.shared_path);
    for (size_t i = 0; i < batch->count; i++)
        add_job(maker, jobs, &batch->jobs[i]);
}

static void add_facts(struct maker *maker, json_t *root, const struct distribute_job *job)
{
    const struct distribute_tool *tool = &maker->batch->tool;
    json_t *facts = json_tree_set(root, "minilink", json_object()), *kernels;

    json_tree_set_number(facts, "version", 1);
    kernels = json_tree_set(facts, "kernels", json_array());
    for (size_t i = 0; i < job->kernel_count; i++)
        json_tree_push(kernels, json_tree_exact(job->kernels[i]));
    json_tree_set_number(facts, "cost", job->cost);
    json_tree_set_number(facts, "input_bytes", job->input.size);
    if (tool->memory)
        json_tree_set_number(facts, "memory_bytes",
                             tool->memory + tool->memory_per_byte * job->input.size);
    if (tool->time_limit)
        json_tree_set_number(facts, "time_limit_seconds", tool->time_limit);
    json_tree_set(facts, "log", json_tree_exact(checked(maker, job->log_path)));
}

char *jobfile_make(const struct distribute_batch *batch, const struct distribute_job *job)
{
    struct maker maker = {.batch = batch};
    json_t *root = json_tree_begin();
    LOCAL_BUFFER(text);

    CONTEXT_DEFER(json_tree_end, root);
    CONTEXT_DEFER(arena_cleanup, &maker.arena);
    if (job)
        add_facts(&maker, root, job);
    else
        add_jobs(&maker, root);
    if (maker.not_utf8) {
        diag_fatal("The name '%s' cannot stand in a file of jobs: it is no UTF-8", maker.not_utf8);
        return NULL;
    }
    json_tree_print(root, JSON_TREE_FILE, &text);
    return buffer_take(&text, NULL);
}

/* Finds the files that `text` names as outputs of jobs, by the digits at their beginning. */
static void find_outputs(struct text text, const char *suffix, struct table *stems)
{
    static const char digits[] = "0123456789abcdef";
    struct text end = text_of(suffix);

    for (size_t at = 0, start = 0; at < text.size; at++) {
        struct text behind = {text.data + at, text.size - at};

        if (text.data[at] && strchr(digits, text.data[at]))
            continue;
        if (at - start == JOBFILE_STEM && text_starts(behind, end) && behind.size > end.size &&
            behind.data[end.size] == '"')
            table_add(stems, (struct text){text.data + start, JOBFILE_STEM}, 1);
        start = at + 1;
    }
}

/* Describes the difference, or NULL. */
static const char *compare_jobs(const struct table *there, struct distribute_batch *batch)
{
    const struct distribute_job *other = NULL;
    size_t found = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const char *name = basename(batch->jobs[i].output_path);

        if (table_find(there, (struct text){name, JOBFILE_STEM}) != TABLE_NONE)
            found++;
        else if (!other)
            other = &batch->jobs[i];
    }
    if (there->count == 0 && other)
        return "it names no output of a job";
    if (found == 0 && other)
        return "its jobs have another command or other inputs: the options, the target, the "
               "assembler or the inputs have changed";
    if (there->count != batch->count)
        return arena_printf(&batch->arena, "it has %zu jobs, and the link now needs %zu",
                            there->count, batch->count);
    return other
               ? arena_printf(&batch->arena, "the inputs have changed: %s is another", other->name)
               : NULL;
}

bool jobfile_is_of(struct text text, struct distribute_batch *batch, const char **why)
{
    LOCAL_TABLE(stems);

    find_outputs(text, batch->tool.output_suffix, &stems);
    *why = compare_jobs(&stems, batch);
    return !*why;
}
