/* forward.c: turns the values in force into words of libnvJitLink and of ptxas. */
#include "options/forward.h"

#include <string.h>

#include "options/embedded.h"

void forward_begin(struct forwarded *forwarded, struct arena *arena, size_t most)
{
    *forwarded = (struct forwarded){
        .arena = arena,
        .words = arena_zalloc(arena, most + 1, sizeof *forwarded->words),
    };
}

void forward_word(struct forwarded *forwarded, const char *word)
{
    forwarded->words[forwarded->count++] = word;
}

void forward_value(struct forwarded *forwarded, const char *name, const char *value)
{
    if (value && *value)
        forward_word(forwarded, arena_printf(forwarded->arena, "%s=%s", name, value));
}

static void add_number(struct forwarded *forwarded, const char *name, int32_t value)
{
    forward_word(forwarded, arena_printf(forwarded->arena, "%s=%d", name, (int)value));
}

static void add_split_compile(struct forwarded *forwarded, int32_t value)
{
    if (value != 1)
        add_number(forwarded, embedded_name(EMBEDDED_SPLIT_COMPILE), value);
}

static void add_ofast_compile(struct forwarded *forwarded, const struct option_request *request)
{
    if (request->ofast_compile && strcmp(request->ofast_compile, "0") != 0)
        forward_value(forwarded, "-Ofc", request->ofast_compile);
}

/* Measured on 13.0 and 13.5: 1 gives different PTX than all greater values. So that the output
 * depends neither on the machine nor on --threads, 0 (the number of CPUs) and limits become at
 * least 2. */
void forward_split(struct forwarded *forwarded, const struct agreement *agreement,
                   int32_t most_threads)
{
    int32_t value = agreement->split_compile_extended != 1 ? agreement->split_compile_extended
                                                           : agreement->split_compile;

    if (value != 1 && (value <= 0 || value > most_threads))
        value = most_threads < 2 ? 2 : most_threads;
    add_split_compile(forwarded, value);
}

void forward_latest(struct forwarded *forwarded, const struct option_request *request)
{
    if (request->nvvm_latest)
        forward_word(forwarded, "-nvvm-version=nvvm-latest"); /* 12.5 to 13.5 have it */
}

void forward_agreed(struct forwarded *forwarded, const struct agreement *agreement,
                    const struct option_request *request)
{
    if (agreement->debug)
        forward_word(forwarded, "-g");
    if (agreement->line_info)
        forward_word(forwarded, embedded_name(EMBEDDED_LINE_INFO));
    if (agreement->maxrregcount > 0)
        add_number(forwarded, embedded_name(EMBEDDED_MAXREG), agreement->maxrregcount);
    add_ofast_compile(forwarded, request);
    forward_latest(forwarded, request);
}

void forward_arithmetic(struct forwarded *forwarded, const struct agreement *agreement)
{
    for (int option = EMBEDDED_FTZ; option <= EMBEDDED_FMAD; option++) {
        const struct consensus *consensus = &agreement->embedded[option];
        bool is_agreed =
            consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED;

        /* The only one whose name in libnvvm differs from nvcc's. */
        if (is_agreed)
            add_number(forwarded,
                       option == EMBEDDED_FMAD ? "-fma"
                                               : embedded_name((enum embedded_option)option),
                       consensus->value);
    }
}

const char *const *forward_to_ptxas(struct arena *arena, const struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool is_whole)
{
    struct forwarded forwarded;
    size_t count = string_list_count(given);

    forward_begin(&forwarded, arena, count + 2);
    add_ofast_compile(&forwarded, request);
    if (is_whole)
        add_split_compile(&forwarded, agreement->split_compile);
    for (size_t i = 0; i < count; i++)
        forward_word(&forwarded, given[i]);
    return forwarded.words;
}
