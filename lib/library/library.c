/* library.c: the beginning, the link and the end. */
#include <stdlib.h>

#include "command/reporting.h"
#include "library/handle.h"
#include "library/outside.h"
#include "link/link.h"

static bool is_of_error(struct minilink *link, enum diag_severity severity)
{
    if (severity != DIAG_NOTE)
        link->last = severity;
    return link->last >= DIAG_ERROR;
}

/* Logs end with a NUL that is not counted. */
static void write_log(void *argument, int severity, struct text lines)
{
    struct minilink *link = argument;
    struct buffer *log;

    if (lines.size == 0)
        return;
    log = is_of_error(link, (enum diag_severity)severity) ? &link->errors : &link->infos;
    buffer_reserve(log, lines.size + 1);
    buffer_text(log, lines);
    log->data[log->size] = '\0';
}

int handle_call(struct minilink *link, enum link_code (*function)(void *argument), void *argument)
{
    struct outside outside;
    enum link_code code;

    if (link->is_command) {
        reporting_set(&link->options);
        return (int)context_run(function, argument);
    }
    if (!outside_leave(&outside))
        return MINILINK_NO_MEMORY;
    reporting_set(&link->options);
    context_get()->keeps_mangled = true; /* as whoever calls wants to find them */
    context_get()->writer = &link->writer;
    code = context_run(function, argument);
    outside_return(&outside);
    return (int)code;
}

/* What has no use, or would print, where the link is a call. */
static bool refuse(const struct options *options, enum options_action action)
{
    const struct link_request *link = &options->link;
    const struct observe_request *observe = &link->observe;
    const char *const outputs[] = {observe->times, observe->trace, observe->map, link->modules_file,
                                   link->dependency_file};

    if (action != OPTIONS_LINK)
        diag_fatal("An option that links nothing cannot be used here");
    else if (link->output)
        diag_fatal("Option '-o' cannot be used here: the result is in memory");
    else if (link->progress != PROGRESS_AUTO || options->color != COLOR_NEVER)
        diag_fatal("Options '--progress' and '--color' cannot be used here");
    else if (link->is_virtual)
        diag_fatal(VIRTUAL_TARGET, options->arch_text);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i] && strcmp(outputs[i], "-") == 0)
            diag_fatal("Nothing is printed here: '-' is no file");
    return diag_error_count() > 0;
}

struct creation {
    struct minilink *link;
    const char *const *words;
    size_t count;
    enum options_action action;
};

static enum link_code create(void *argument)
{
    struct creation *creation = argument;
    struct minilink *link = creation->link;
    struct options *options = &link->options;

    options->argc = (int)creation->count + 1;
    options->argv = arena_zalloc(&link->arena, creation->count + 2, sizeof *options->argv);
    for (size_t i = 0; i < creation->count; i++)
        options->argv[i + 1] =
            arena_string(&link->arena, text_of(creation->words[i] ? creation->words[i] : ""));
    reporting_begin(options->argc, options->argv, options->color);
    creation->action = options_read(options);
    if (creation->action == OPTIONS_WRONG ||
        (!link->is_command && refuse(options, creation->action)))
        return LINK_USAGE;
    reporting_set(options);
    reporting_tell_ignored(options);
    return LINK_OK;
}

static int make(struct minilink **result, struct creation *creation, bool is_command)
{
    struct minilink *link = calloc(1, sizeof *link);
    int code;

    *result = link;
    if (!link)
        return MINILINK_NO_MEMORY;
    if (!stop_make(&link->stop)) {
        free(link);
        *result = NULL;
        return MINILINK_NO_MEMORY;
    }
    link->is_command = is_command;
    link->options.is_in_memory = !is_command;
    link->options.color = is_command ? COLOR_AUTO : COLOR_NEVER;
    link->writer = (struct diag_writer){write_log, link};
    creation->link = link;
    code = handle_call(link, create, creation);
    link->is_wrong = code != MINILINK_OK;
    return code;
}

int minilink_create(struct minilink **link, const char *const *options, size_t count)
{
    struct creation creation = {.words = options, .count = count};
    int code;

    if (!link || (!options && count) || count >= INT32_MAX)
        return MINILINK_USAGE;
    code = make(link, &creation, false);
    if (code == MINILINK_NO_MEMORY)
        minilink_destroy(link);
    return code;
}

int handle_create_command(struct minilink **link, int argc, char **argv,
                          enum options_action *action)
{
    struct creation creation = {.words = (const char *const *)argv + 1,
                                .count = argc > 1 ? (size_t)argc - 1 : 0,
                                .action = OPTIONS_WRONG};
    int code = make(link, &creation, true);

    *action = code == MINILINK_OK ? creation.action : OPTIONS_WRONG;
    return code;
}

static enum link_code usage(const char *why)
{
    diag_fatal("%s", why);
    return LINK_USAGE;
}

/* The result stays in memory. */
static void keep_here(struct minilink *link)
{
    struct link_request *request = &link->options.link;

    options_set_inputs(&link->options);
    request->product = &link->product;
    request->stop = &link->stop;
    request->reads_files = true;
    request->progress = PROGRESS_OFF;
    request->cache.has_command = false; /* it would keep the bytes only */
    request->distribution.cancelled = &link->stop.is_set;
    if (link->assembler.assemble)
        request->assembler.own = &link->assembler;
}

static enum link_code complete(void *argument)
{
    struct minilink *link = argument;
    struct link_request *request = &link->options.link;

    if (link->is_wrong)
        return usage("The link has wrong options");
    if (link->is_complete)
        return usage("The link is complete already");
    link->is_complete = true;
    if (link->options.operand_count == 0)
        return usage("No input was added");
    if (link->assembler.assemble &&
        (request->distribution.program || request->distribution.emit_plan ||
         request->distribution.resume_plan))
        return usage("Other machines cannot call this process's assembler");
    if (!link->is_command)
        keep_here(link);
    return link_run(request);
}

static enum link_code tell(void *argument)
{
    struct minilink *link = argument;

    diag_tally_end(&link->options.tally);
    return LINK_OK;
}

static enum link_code say_cancelled(void *unused)
{
    (void)unused;
    diag_fatal("The link was cancelled");
    return LINK_OK;
}

int minilink_complete(struct minilink *link)
{
    bool was_complete;
    int code;

    if (!link)
        return MINILINK_USAGE;
    was_complete = link->is_complete;
    code = handle_call(link, complete, link);
    if (code == MINILINK_CANCELLED && !link->is_command)
        handle_call(link, say_cancelled, link);
    if (!was_complete && !link->is_command && handle_call(link, tell, link) == MINILINK_NO_MEMORY)
        code = MINILINK_NO_MEMORY;
    if (code != MINILINK_OK && !was_complete)
        product_free(&link->product);
    return code;
}

void minilink_cancel(struct minilink *link)
{
    if (link)
        stop_set(&link->stop);
}

void minilink_destroy(struct minilink **handle)
{
    struct minilink *link = handle ? *handle : NULL;

    if (!link)
        return;
    *handle = NULL;
    diag_tally_free(&link->options.tally);
    options_free(&link->options);
    product_free(&link->product);
    buffer_free(&link->errors);
    buffer_free(&link->infos);
    arena_free(&link->arena);
    stop_end(&link->stop);
    free(link);
}
