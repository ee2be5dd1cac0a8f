/* ptxas.c: finding ptxas, and asking for its version. */
#include "assemble/ptxas.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/ptxas_ahead.h"
#include "assemble/registry.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"
#include "os/toolkit.h"

char *ptxas_find(const struct assembler_request *request, struct buffer *tried)
{
    const struct toolkit_request toolkit = {.file = request->ptxas_path,
                                            .cuda_path = request->cuda_path,
                                            .nvvm_path = request->nvvm_path};

    return toolkit_find_ptxas(&toolkit, tried);
}

static char *find_or_report(const struct assembler_request *request)
{
    struct buffer tried = {0};
    char *found;

    CONTEXT_DEFER(buffer_cleanup, &tried);
    found = ptxas_find(request, &tried);
    if (!found) {
        diag_fatal("Could not find ptxas (looked for %.*s)", TEXT_ARG(buffer_view(&tried)));
        diag_note("Set CUDA_HOME, or use --ptxas= or --cuda-path=; --assembler=builtin needs none");
    }
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
        snprintf(text, size, "was killed, as it took more than %d s (--timeout)", result->code);
    else if (result->code != 0)
        snprintf(text, size, "ended with status %d", result->code);
    else
        return NULL;
    return text;
}

/* The last two lines of what it printed. */
static char *read_version(const struct exec_result *result)
{
    struct text output = {result->output ? result->output : "", result->output_size};
    struct text build = take_last_line(&output);
    struct text release = take_last_line(&output);
    struct buffer version = {0};

    buffer_printf(&version, "%.*s; %.*s", TEXT_ARG(release), TEXT_ARG(build));
    return version.data;
}

char *ptxas_ask_version(const struct ptxas *ptxas, char *why, size_t size)
{
    const char *const argv[] = {ptxas->path, "--version", NULL};
    const struct exec_request request = {.argv = argv, .output_limit = 4096};
    struct exec_result result;
    char *version = NULL, end[128];

    exec_run(&request, &result);
    if (result.end == EXEC_NOT_STARTED && result.code == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    if (ptxas_describe_end(&result, end, sizeof end))
        snprintf(why, size, "Could not ask '%s' for its version: it %s", ptxas->path, end);
    else
        version = read_version(&result);
    return version;
}

bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request)
{
    ptxas->timeout = request->timeout;
    ptxas->path = find_or_report(request);
    return ptxas->path != NULL;
}

const char *ptxas_version(struct ptxas *ptxas)
{
    char why[PATH_MAX + 256];

    if (!ptxas->version)
        ptxas->version = ptxas_ask_version(ptxas, why, sizeof why);
    if (!ptxas->version)
        diag_fatal("%s", why);
    return ptxas->version;
}

void ptxas_close(struct ptxas *ptxas)
{
    ptxas_ahead_drop(ptxas);
    free(ptxas->path);
    free(ptxas->version);
    *ptxas = (struct ptxas){0};
}
