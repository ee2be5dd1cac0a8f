/* forward.c: turns the values in force into words of libnvJitLink and of ptxas. */
#include "options/forward.h"

#include <string.h>

#include "options/embedded.h"

void forward_value(struct word_list *words, const char *name, const char *value)
{
    if (value && *value)
        word_list_printf(words, "%s=%s", name, value);
}

static void add_number(struct word_list *words, const char *name, int32_t value)
{
    word_list_printf(words, "%s=%d", name, (int)value);
}

static void add_split_compile(struct word_list *words, int32_t value)
{
    if (value != 1)
        add_number(words, embedded_name(EMBEDDED_SPLIT_COMPILE), value);
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
        word_list_add(words, embedded_name(EMBEDDED_LINE_INFO));
    if (agreement->maxrregcount > 0)
        add_number(words, embedded_name(EMBEDDED_MAXREG), agreement->maxrregcount);
    add_ofast_compile(words, request);
    forward_latest(words, request);
}

void forward_arithmetic(struct word_list *words, const struct agreement *agreement)
{
    for (int option = EMBEDDED_FTZ; option <= EMBEDDED_FMAD; option++) {
        const struct consensus *consensus = &agreement->embedded[option];
        bool is_agreed =
            consensus->state == CONSENSUS_PRESENT || consensus->state == CONSENSUS_MIXED;

        /* The only one whose name in libnvvm differs from nvcc's. */
        if (is_agreed)
            add_number(words,
                       option == EMBEDDED_FMAD ? "-fma"
                                               : embedded_name((enum embedded_option)option),
                       consensus->value);
    }
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
