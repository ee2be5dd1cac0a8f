/* ptxas.c: finding ptxas, and what stands in front of it. */
#include "assembler/ptxas.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembler/registry.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/exec.h"
#include "base/memory.h"
#include "base/program.h"

/* "<folder>/<inside>ptxas" when that is a program, else NULL, and a line in `tried`. */
static char *try_folder(struct buffer *tried, struct text folder, const char *inside)
{
    struct buffer path = {0};

    /* In one allocation, so that nothing is lost when there is no memory for it. */
    buffer_printf(&path, "%.*s/%sptxas", TEXT_ARG(folder), inside);
    if (program_is(path.data))
        return path.data;
    buffer_free(&path);
    buffer_printf(tried, "%s'%.*s/%sptxas'", tried->size ? ", " : "", TEXT_ARG(folder), inside);
    return NULL;
}

/* nvcc hands on the folder of its own toolkit: "<toolkit>/nvvm". */
static char *try_nvvm(struct buffer *tried, const char *nvvm)
{
    struct text path = text_of(nvvm);

    while (path.size > 1 && path.data[path.size - 1] == '/')
        path.size--;
    while (path.size > 0 && path.data[path.size - 1] != '/')
        path.size--;
    return path.size > 1 ? try_folder(tried, (struct text){path.data, path.size - 1}, "bin/")
                         : NULL;
}

static char *try_path(struct buffer *tried)
{
    const char *cursor = getenv("PATH");
    char *found = NULL;

    while (cursor && !found) {
        size_t size = strcspn(cursor, ":");

        found = try_folder(tried, size ? (struct text){cursor, size} : TEXT("."), "");
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    return found;
}

char *ptxas_find(const struct assembler_request *request, struct buffer *tried)
{
    const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    char *found = NULL;

    if (request->ptxas_path) {
        if (program_is(request->ptxas_path))
            return memory_copy_string(request->ptxas_path, strlen(request->ptxas_path));
        buffer_printf(tried, "'%s'", request->ptxas_path);
        return NULL;
    }
    if (request->cuda_path)
        return try_folder(tried, text_of(request->cuda_path), "bin/");
    if (request->nvvm_path)
        found = try_nvvm(tried, request->nvvm_path);
    for (size_t i = 0; i < 2 && !found; i++) {
        const char *folder = getenv(variables[i]);

        if (folder && *folder)
            found = try_folder(tried, text_of(folder), "bin/");
    }
    return found ? found : try_path(tried);
}

static char *find_or_report(const struct assembler_request *request)
{
    struct buffer tried = {0};
    struct context_cleanup cleanup;
    char *found;

    context_defer(&cleanup, buffer_cleanup, &tried);
    found = ptxas_find(request, &tried);
    if (!found) {
        diag_fatal("Could not find ptxas (looked for %.*s)", TEXT_ARG(buffer_view(&tried)));
        diag_note("Set CUDA_HOME, or use --ptxas= or --cuda-path=; --assembler=builtin needs none");
    }
    context_clean(&cleanup);
    return found;
}

/* Drops the last line of *text and returns it. */
static struct text take_last_line(struct text *text)
{
    size_t end, start;

    while (text->size > 0 && strchr(" \r\n", text->data[text->size - 1]))
        text->size--;
    end = start = text->size;
    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    text->size = start;
    return (struct text){text->data + start, end - start};
}

const char *ptxas_describe_end(const struct exec_result *result, char *text, size_t size)
{
    if (result->end == EXEC_SIGNALED)
        snprintf(text, size, "was killed by signal %d (%s)", result->code, strsignal(result->code));
    else if (result->end == EXEC_NOT_STARTED)
        snprintf(text, size, "could not be run: %s", strerror(result->code));
    else if (result->end == EXEC_CANCELLED)
        snprintf(text, size, "was cancelled");
    else if (result->end == EXEC_TIMED_OUT)
        snprintf(text, size, "was killed, as it took more than %d s (--assembler-timeout)",
                 result->code);
    else if (result->code != 0)
        snprintf(text, size, "ended with status %d", result->code);
    else
        return NULL;
    return text;
}

static char *ask_version(const struct ptxas *ptxas)
{
    const char *const argv[] = {ptxas->path, "--version", NULL};
    const struct exec_request request = {.argv = argv, .output_limit = 4096};
    struct exec_result result;
    struct buffer version = {0};
    struct context_cleanup cleanup;
    struct text output, build, release;
    char end[128];

    exec_run(&request, &result);
    if (result.end == EXEC_NOT_STARTED && result.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    context_defer(&cleanup, memory_cleanup, &result.output);
    if (ptxas_describe_end(&result, end, sizeof end)) {
        diag_fatal("Could not ask '%s' for its version: it %s", ptxas->path, end);
        context_clean(&cleanup);
        return NULL;
    }
    output = (struct text){result.output ? result.output : "", result.output_size};
    build = take_last_line(&output);
    release = take_last_line(&output);
    buffer_printf(&version, "%.*s; %.*s", TEXT_ARG(release), TEXT_ARG(build));
    context_clean(&cleanup);
    return version.data;
}

static char *find_launcher(struct text word)
{
    char *found = program_find(word);

    if (!found)
        diag_fatal("Could not find the assembler launcher '%.*s' on PATH", TEXT_ARG(word));
    return found;
}

/* Cuts --assembler-launcher at blanks. */
static bool read_launcher(struct ptxas *ptxas, const char *words)
{
    size_t count = 0, capacity = 0;

    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t")) {
        struct text word = {words, strcspn(words, " \t")};
        char *copy = count == 0 ? find_launcher(word) : memory_copy_string(word.data, word.size);

        if (!copy)
            return false;
        /* Room for this word and the NULL; the list is whole after each. */
        ARRAY_RESERVE(ptxas->launcher, capacity, count + 2);
        ptxas->launcher[count++] = copy;
        ptxas->launcher[count] = NULL;
        words += word.size;
    }
    return true;
}

/* What is launched may hash its files, or run elsewhere: it gets real ones. */
static bool make_folder(struct ptxas *ptxas, const char *output)
{
    if (!ptxas->launcher || folder_make(&ptxas->folder, output))
        return true;
    diag_fatal("Could not make a folder for the files of '%s': %s", ptxas->launcher[0],
               strerror(errno));
    return false;
}

bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request)
{
    ptxas->timeout = request->timeout;
    if (request->launcher &&
        (!read_launcher(ptxas, request->launcher) || !make_folder(ptxas, request->output)))
        return false;
    ptxas->path = find_or_report(request);
    if (ptxas->path)
        ptxas->version = ask_version(ptxas);
    return ptxas->version != NULL;
}

void ptxas_close(struct ptxas *ptxas)
{
    for (size_t i = 0; ptxas->launcher && ptxas->launcher[i]; i++)
        free(ptxas->launcher[i]);
    free(ptxas->launcher);
    folder_remove(&ptxas->folder);
    free(ptxas->path);
    free(ptxas->version);
    *ptxas = (struct ptxas){0};
}
