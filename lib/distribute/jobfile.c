/* jobfile.c: objects built member by member; the library frees all of a tree with its root. */
#include "distribute/jobfile.h"

#include <jansson.h>
#include <string.h>

#include "base/diag.h"
#include "base/escape.h"
#include "base/table.h"

/* What cannot be made is NULL, which trees that it is to be added to take without harm. */
struct maker {
    json_t *root;
    const char *not_utf8; /* the first string that JSON cannot hold */
    bool has_failed;
};

static json_t *checked(struct maker *maker, json_t *made)
{
    if (!made)
        maker->has_failed = true;
    return made;
}

static json_t *make_string(struct maker *maker, const char *string)
{
    /* The library says the same, nothing, of bytes that JSON cannot hold and of no memory. */
    if (!maker->not_utf8 && !escape_is_utf8(text_of(string)))
        maker->not_utf8 = string;
    return checked(maker, json_string(string));
}

static void set(struct maker *maker, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value))
        maker->has_failed = true;
}

static void append(struct maker *maker, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value))
        maker->has_failed = true;
}

static void append_string(struct maker *maker, json_t *array, const char *string)
{
    append(maker, array, make_string(maker, string));
}

/* An array of the strings; `list` ends with NULL, and may be NULL. */
static json_t *make_list(struct maker *maker, const char *const *list)
{
    json_t *array = checked(maker, json_array());

    for (size_t i = 0; list && list[i]; i++)
        append_string(maker, array, list[i]);
    return array;
}

/* The job's own words. */
static void append_words(struct maker *maker, json_t *words, const struct distribute_tool *tool,
                         const struct distribute_job *job)
{
    append_string(maker, words, job->input_path);
    if (tool->is_positional) {
        append_string(maker, words, tool->shared_path);
        append_string(maker, words, job->output_path);
        append_string(maker, words, job->report_path);
        return;
    }
    if (tool->reports)
        append(maker, words, checked(maker, json_sprintf("--chunk-report=%s", job->report_path)));
    append_string(maker, words, "-o");
    append_string(maker, words, job->output_path);
}

static json_t *make_job(struct maker *maker, const struct distribute_batch *batch,
                        const struct distribute_job *job)
{
    json_t *object = checked(maker, json_object());
    json_t *words = checked(maker, json_array()), *outputs = checked(maker, json_array());
    const char *const inputs[] = {job->input_path, job->facts_path, NULL};

    append_words(maker, words, &batch->tool, job);
    set(maker, object, "args", words);
    set(maker, object, "inputs", make_list(maker, inputs));
    append_string(maker, outputs, job->output_path);
    if (batch->tool.reports)
        append_string(maker, outputs, job->report_path);
    set(maker, object, "outputs", outputs);
    return object;
}

static void make_document(struct maker *maker, const struct distribute_batch *batch)
{
    const char *output = batch->distribution->output; /* none where it stays in memory */
    json_t *common = checked(maker, json_object()), *jobs = checked(maker, json_array());
    json_t *inputs = make_list(maker, batch->tool.inputs);

    if (batch->tool.shared_path)
        append_string(maker, inputs, batch->tool.shared_path);
    maker->root = checked(maker, json_object());
    set(maker, maker->root, "common", common);
    set(maker, maker->root, "jobs", jobs);
    set(maker, common, "linker_output", make_string(maker, output ? output : ""));
    set(maker, common, "args", make_list(maker, batch->tool.words));
    set(maker, common, "inputs", inputs);
    for (size_t i = 0; i < batch->count; i++)
        append(maker, jobs, make_job(maker, batch, &batch->jobs[i]));
}

static void make_facts(struct maker *maker, const struct distribute_batch *batch,
                       const struct distribute_job *job)
{
    json_t *facts = checked(maker, json_object()), *kernels = checked(maker, json_array());

    maker->root = checked(maker, json_object());
    set(maker, maker->root, "minilink", facts);
    set(maker, facts, "version", checked(maker, json_integer(1)));
    set(maker, facts, "kernels", kernels);
    for (size_t i = 0; i < job->kernel_count; i++)
        append(maker, kernels,
               checked(maker, json_stringn(job->kernels[i].data, job->kernels[i].size)));
    set(maker, facts, "cost", checked(maker, json_integer((json_int_t)job->cost)));
    set(maker, facts, "input_bytes", checked(maker, json_integer((json_int_t)job->input.size)));
    if (batch->tool.memory)
        set(maker, facts, "memory_bytes",
            checked(maker,
                    json_integer((json_int_t)(batch->tool.memory +
                                              batch->tool.memory_per_byte * job->input.size))));
    if (batch->tool.time_limit)
        set(maker, facts, "time_limit_seconds",
            checked(maker, json_integer(batch->tool.time_limit)));
    set(maker, facts, "log", make_string(maker, job->log_path));
}

static void free_maker(void *maker)
{
    json_decref(((struct maker *)maker)->root);
}

/* The text of what has been made. NULL when it cannot be. */
static char *finish(const struct maker *maker)
{
    char *text;

    if (maker->not_utf8) {
        diag_fatal("The name '%s' cannot stand in a file of jobs: it is no UTF-8", maker->not_utf8);
        return NULL;
    }
    text = maker->has_failed ? NULL : json_dumps(maker->root, JSON_INDENT(1));
    if (!text)
        context_raise(LINK_NO_MEMORY);
    return text;
}

char *jobfile_make(const struct distribute_batch *batch)
{
    struct maker maker = {0};
    struct context_cleanup cleanup;
    char *text;

    context_defer(&cleanup, free_maker, &maker);
    make_document(&maker, batch);
    text = finish(&maker);
    context_clean(&cleanup);
    return text;
}

char *jobfile_make_facts(const struct distribute_batch *batch, const struct distribute_job *job)
{
    struct maker maker = {0};
    struct context_cleanup cleanup;
    char *text;

    context_defer(&cleanup, free_maker, &maker);
    make_facts(&maker, batch, job);
    text = finish(&maker);
    context_clean(&cleanup);
    return text;
}

/* The files that `text` names as outputs of jobs, by the digits that they begin with. */
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

/* What is different, or NULL. */
static const char *compare(const struct table *there, struct distribute_batch *batch)
{
    const struct distribute_job *other = NULL;
    size_t found = 0;

    for (size_t i = 0; i < batch->count; i++) {
        const char *name = strrchr(batch->jobs[i].output_path, '/') + 1;

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
    struct table stems = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, table_cleanup, &stems);
    find_outputs(text, batch->tool.output_suffix, &stems);
    *why = compare(&stems, batch);
    context_clean(&cleanup);
    return !*why;
}
