/* plan.c: writes the files of a batch to stay, for a build system to run the jobs, and takes the
 * results when the link is run again. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "diag/diag.h"
#include "distribute/batch.h"
#include "distribute/files.h"
#include "distribute/jobfile.h"
#include "distribute/result.h"
#include "output/output.h"

/* Largest plan that is read; one of 10,000 jobs has 6 MB. */
#define PLAN_LIMIT ((size_t)1 << 30)

static const char *folder_of(struct distribute_batch *batch, const char *plan)
{
    /* What begins with a dash would be an option to whoever is told of it. */
    return arena_printf(&batch->arena, "%s%s.d", *plan == '-' ? "./" : "", plan);
}

/* The digits that a job's files begin with, or the empty text for a name that is not theirs. */
static struct text stem_of(const char *name)
{
    return strspn(name, "0123456789abcdef") == JOBFILE_STEM && name[JOBFILE_STEM] == '.'
               ? (struct text){name, JOBFILE_STEM}
               : (struct text){0};
}

/* A folder that is looked through. */
struct sweep {
    DIR *directory;
    struct table stems;
};

static void end_sweep(void *argument)
{
    struct sweep *sweep = argument;

    if (sweep->directory)
        closedir(sweep->directory);
    table_free(&sweep->stems);
}

/* Removes the files of jobs that the plan no longer has. What cannot be removed does no harm. */
static void remove_others(const struct distribute_batch *batch, const char *folder)
{
    struct sweep sweep = {.directory = opendir(folder)};
    const struct dirent *entry;

    CONTEXT_DEFER(end_sweep, &sweep);
    for (size_t i = 0; i < batch->count; i++)
        table_add(&sweep.stems, stem_of(basename(batch->jobs[i].input_path)), 1);
    while (sweep.directory && (entry = readdir(sweep.directory)) != NULL) {
        struct text stem = stem_of(entry->d_name);

        if (stem.size && table_find(&sweep.stems, stem) == TABLE_NONE)
            unlinkat(dirfd(sweep.directory), entry->d_name, 0);
    }
}

/* Whole or not at all, and only when there is something new. */
static enum link_code write_plan(const char *path, const char *text)
{
    struct file_contents old = {0};
    size_t size = strlen(text);
    bool is_old;

    CONTEXT_DEFER(files_cleanup, &old);
    is_old = files_read(&old, path, size) && old.size == size && memcmp(old.data, text, size) == 0;
    if (is_old || output_write_file(path, (struct bytes){(const uint8_t *)text, size}))
        return LINK_OK;
    return LINK_ENVIRONMENT;
}

enum link_code distribute_emit_plan(struct distribute_batch *batch)
{
    const char *plan = batch->distribution->emit_plan, *folder = folder_of(batch, plan);
    enum link_code code;
    char *text = NULL;

    if (mkdir(folder, 0777) && errno != EEXIST) {
        diag_fatal("Could not make folder '%s': %s", folder, strerror(errno));
        return LINK_ENVIRONMENT;
    }
    distribute_name_files(batch, folder);
    code = batch_write_inputs(batch);
    if (code != LINK_OK)
        return code;
    CONTEXT_DEFER(memory_cleanup, &text);
    text = jobfile_make(batch);
    code = text ? write_plan(plan, text) : LINK_FAILED;
    if (code == LINK_OK)
        remove_others(batch, folder);
    return code;
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

    distribute_name_files(batch, folder_of(batch, batch->distribution->resume_plan));
    code = check_plan(batch);
    for (size_t i = 0; i < batch->count && code == LINK_OK; i++)
        result_take(batch, &batch->jobs[i]);
    return code;
}
