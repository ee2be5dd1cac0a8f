/* reporting.c: options to the thread's context. */
#include "command/reporting.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/standard.h"

/* A terminal that shows colours, unless the user wants none (no-color.org). */
static bool wants_color(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return standard_shows_messages() && !(no && *no) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

static void set_form(enum diag_format format, enum color_use color)
{
    struct context *context = context_get();

    context->format = format;
    context->color = format != DIAG_FORM_JSON &&
                     (color == COLOR_ALWAYS || (color == COLOR_AUTO && wants_color()));
}

/* The value of a word "-name=value" or "--name=value"; NULL: it is another. */
static const char *value_of(const char *word, const char *name)
{
    size_t length = strlen(name);

    word += *word == '-';
    word += *word == '-';
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

void reporting_begin(int argc, char *const *argv, enum color_use color)
{
    enum diag_format format = DIAG_FORM_NVLINK;

    for (int i = 1; i < argc; i++) {
        const char *value = argv[i][0] == '-' ? value_of(argv[i], "diagnostics-format") : NULL;

        if (value)
            format = strcmp(value, "json") == 0  ? DIAG_FORM_JSON
                     : strcmp(value, "gnu") == 0 ? DIAG_FORM_GNU
                                                 : DIAG_FORM_NVLINK;
        value = argv[i][0] == '-' ? value_of(argv[i], "color") : NULL;
        if (value)
            color = strcmp(value, "always") == 0  ? COLOR_ALWAYS
                    : strcmp(value, "never") == 0 ? COLOR_NEVER
                                                  : COLOR_AUTO;
    }
    set_form(format, color);
}

void reporting_set(struct options *options)
{
    struct context *context = context_get();

    set_form(options->diagnostics_format, options->color);
    context->suppress_infos = options->disable_infos;
    context->suppress_warnings = options->disable_warnings;
    context->warnings_are_errors = options->warnings_are_errors;
    context->verbose = options->verbose;
    context->keeps_mangled = options->no_demangle;
    context->annotate = options->annotates;
    options->tally.error_limit = options->error_limit;
    options->tally.folds = options->verbose == 0 && options->diagnostics_format != DIAG_FORM_JSON;
    context->tally = &options->tally;
    if (options->report_arch && options->link.arch.sm)
        context->report_arch = arch_name(options->link.arch, options->target);
}

void reporting_tell_ignored(const struct options *options)
{
    for (size_t i = 0; i < options->ignored.count; i++)
        diag_verbose("option '%s' has no effect", options->ignored.list[i]);
}

static enum link_code tell(void *tally)
{
    diag_tally_end(tally);
    return LINK_OK;
}

void reporting_end(struct options *options)
{
    if (context_run(tell, &options->tally) == LINK_NO_MEMORY)
        diag_no_memory();
    context_get()->tally = NULL;
    diag_tally_free(&options->tally);
}
