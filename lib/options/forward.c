/* forward.c: one line per option that libnvvm may be told.
 *
 * libnvvm spells some options differently from cicc, whose spellings the members carry: -prec-div
 * for -prec_div, -fma for -fmad. */
#include "options/forward.h"

#include <string.h>

/* Two for splitting and the debug options, one for each other option. */
#define MOST_FORWARDED 12

static void add(struct agreement *agreement, const char *option)
{
    agreement->forwarded[agreement->forwarded_count++] = option;
}

static void add_number(struct agreement *agreement, const char *option, int32_t value)
{
    add(agreement, arena_printf(&agreement->arena, "%s=%d", option, (int)value));
}

/* Measured: nvlink leaves the arithmetic to what the LTO-IR says, unless -Xnvvm changes anything.
 */
static void add_arithmetic(struct agreement *agreement)
{
    static const struct {
        enum embedded_option option;
        const char *spelling;
    } arithmetic[] = {
        {EMBEDDED_FTZ, "-ftz"},
        {EMBEDDED_PREC_DIV, "-prec-div"},
        {EMBEDDED_PREC_SQRT, "-prec-sqrt"},
        {EMBEDDED_FMAD, "-fma"},
    };

    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const struct consensus *consensus = &agreement->embedded[arithmetic[i].option];

        if (consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED)
            add_number(agreement, arithmetic[i].spelling, consensus->value);
    }
}

void forward_options(struct agreement *agreement, const struct option_request *request)
{
    const char *ofast = request->ofast_compile;

    agreement->forwarded =
        arena_alloc(&agreement->arena, MOST_FORWARDED, sizeof *agreement->forwarded);
    agreement->forwarded_count = 0;
    if (agreement->split_compile_extended != 1)
        add_number(agreement, "-split-compile-extended", agreement->split_compile_extended);
    else if (agreement->split_compile != 1)
        add_number(agreement, "-split-compile", agreement->split_compile);
    if (agreement->debug)
        add(agreement, "-g");
    if (agreement->line_info)
        add(agreement, "-generate-line-info");
    if (agreement->maxrregcount > 0)
        add_number(agreement, "-maxreg", agreement->maxrregcount);
    if (ofast && strcmp(ofast, "0") != 0)
        add(agreement, arena_printf(&agreement->arena, "-Ofast-compile=%s", ofast));
    if (request->has_xnvvm)
        add_arithmetic(agreement);
}

const char *const *forward_to_ptxas(struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool is_whole)
{
    const char *ofast = request->ofast_compile;
    struct arena *arena = &agreement->arena;
    size_t given_count = 0, count = 0;
    const char **options;

    while (given && given[given_count])
        given_count++;
    options = arena_alloc(arena, given_count + 3, sizeof *options);
    if (ofast && strcmp(ofast, "0") != 0)
        options[count++] = arena_printf(arena, "-Ofc=%s", ofast);
    if (is_whole && agreement->split_compile != 1)
        options[count++] = arena_printf(arena, "-split-compile=%d", (int)agreement->split_compile);
    for (size_t i = 0; i < given_count; i++)
        options[count++] = given[i];
    options[count] = NULL;
    return options;
}
