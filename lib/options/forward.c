/* forward.c: turns the values in force into words of libnvJitLink and of ptxas. */
#include "options/consensus.h"

#include <string.h>

void forward_value(struct word_list *words, const char *name, const char *value)
{
    if (value && *value)
        word_list_printf(words, "%s=%s", name, value);
}

static void add_split_compile(struct word_list *words, int32_t value)
{
    if (value != 1)
        word_list_printf(words, "-split-compile=%d", (int)value);
}

static void add_ofast_compile(struct word_list *words, const struct option_request *request)
{
    if (request->ofast_compile && strcmp(request->ofast_compile, "0") != 0)
        forward_value(words, "-Ofc", request->ofast_compile);
}

/* Measured on 13.0 and 13.5: 1 gives different PTX than all greater values. So that the output
 * depends neither on the machine nor on --threads, 0 (the number of CPUs) and limits become at
 * least 2. */
void forward_split(struct word_list *words, const struct agreement *agreement, int32_t most_threads)
{
    int32_t value = agreement->split_compile_extended != 1 ? agreement->split_compile_extended
                                                           : agreement->split_compile;

    if (value != 1 && (value <= 0 || value > most_threads))
        value = most_threads < 2 ? 2 : most_threads;
    add_split_compile(words, value);
}

void forward_latest(struct word_list *words, const struct option_request *request)
{
    if (request->nvvm_latest)
        word_list_add(words, "-nvvm-version=nvvm-latest"); /* 12.5 to 13.5 have it */
}

void forward_agreed(struct word_list *words, const struct agreement *agreement,
                    const struct option_request *request)
{
    if (agreement->debug)
        word_list_add(words, "-g");
    if (agreement->line_info)
        word_list_add(words, "-lineinfo");
    if (agreement->maxrregcount > 0)
        word_list_printf(words, "-maxrregcount=%d", (int)agreement->maxrregcount);
    add_ofast_compile(words, request);
    forward_latest(words, request);
}

/* The names of libnvvm; only that of -fma differs from nvcc's. */
void forward_arithmetic(struct word_list *words, const struct agreement *agreement)
{
    static const char *const names[] = {[EMBEDDED_FTZ] = "-ftz",
                                        [EMBEDDED_PREC_DIV] = "-prec-div",
                                        [EMBEDDED_PREC_SQRT] = "-prec-sqrt",
                                        [EMBEDDED_FMAD] = "-fma"};

    for (int option = EMBEDDED_FTZ; option <= EMBEDDED_FMAD; option++)
        if (consensus_has_one_value(&agreement->embedded[option]))
            word_list_printf(words, "%s=%d", names[option], (int)agreement->embedded[option].value);
}

const char *const *forward_to_ptxas(struct arena *arena, const struct agreement *agreement,
                                    const struct option_request *request, const char *const *given,
                                    bool is_whole)
{
    struct word_list words = {.arena = arena};

    add_ofast_compile(&words, request);
    if (is_whole)
        add_split_compile(&words, agreement->split_compile);
    word_list_add_all(&words, given);
    return word_list_end(&words);
}
