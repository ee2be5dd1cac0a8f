/* reporting.c: sets the thread's state of messages from the options. */
#include "command/options.h"

#include <stdlib.h>

#include "command/option_table.h"
#include "output/output.h"

/* A terminal that shows colours, unless the user wants none (no-color.org). */
static bool wants_color(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return std_streams_shows_messages() && !(no && *no) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

static void set_form(enum diag_format format, enum color_use color)
{
    struct diag_state *state = diag_state_get();

    state->format = format;
    state->color = format != DIAG_FORM_JSON &&
                   (color == COLOR_ALWAYS || (color == COLOR_AUTO && wants_color()));
}

/* The number of a choice of the row; 0, which is the default, for an unknown word. */
static int choose_of_row(const struct option_row *row, const char *value)
{
    const struct option_choice *choice = option_table_choice(row, value);

    return choice ? choice->number : 0;
}

void reporting_begin(const char *const *words, size_t count, enum color_use color)
{
    enum diag_format format = DIAG_FORM_NVLINK;

    for (size_t i = 0; i < count; i++) {
        const char *value = NULL;
        const struct option_row *row =
            words[i] && words[i][0] == '-' ? option_table_find(words[i], &value) : NULL;

        if (row && value && strcmp(row->name, "diagnostics-format") == 0)
            format = (enum diag_format)choose_of_row(row, value);
        else if (row && strcmp(row->name, "color-diagnostics") == 0)
            color = value ? (enum color_use)choose_of_row(row, value) : COLOR_ALWAYS;
    }
    set_form(format, color);
}

void reporting_set(struct options *options)
{
    struct diag_state *state = diag_state_get();

    set_form(options->diagnostics_format, options->color);
    state->suppress_infos = options->disable_infos;
    state->suppress_warnings = options->disable_warnings;
    state->warnings_are_errors = options->warnings_are_errors;
    state->verbose = options->verbose;
    state->keeps_mangled = options->no_demangle;
    state->annotate = options->annotates;
    options->tally.error_limit = options->error_limit;
    options->tally.folds = options->verbose == 0 && options->diagnostics_format != DIAG_FORM_JSON;
    state->tally = &options->tally;
    state->error_limit = options->error_limit;
    if (options->report_arch && options->link.arch.sm)
        state->report_arch = arch_name(options->link.arch, options->target);
}

void reporting_tell_ignored(const struct options *options)
{
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].row->effect.kind == OPTION_IGNORED)
            diag_verbose("option '%s' has no effect", options->given[i].row->name);
}

static enum link_code report_tally(void *tally)
{
    diag_tally_end(tally);
    return LINK_OK;
}

void reporting_end(struct options *options)
{
    if (context_run(report_tally, &options->tally) == LINK_NO_MEMORY)
        diag_no_memory();
    diag_state_get()->tally = NULL;
    diag_state_get()->error_limit = 0;
    diag_tally_free(&options->tally);
}
