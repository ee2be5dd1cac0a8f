/* ptxas_command.c: the words of a ptxas command. */
#include "assemble/ptxas.h"

#include "base/word_list.h"

static void add_options(struct word_list *words, const struct minilink_job *job)
{
    if (job->mode != MINILINK_MODE_WHOLE)
        word_list_add(words, "-c");
    word_list_printf(words, "-arch=%s", job->arch);
    word_list_add(words, "-m64");
    if (job->debug)
        word_list_add(words, "-g");
    if (job->line_info)
        word_list_add(words, "-lineinfo");
    if (job->maxrregcount)
        word_list_printf(words, "-maxrregcount=%u", job->maxrregcount);
    word_list_add_all(words, job->options);
}

const char *const *ptxas_options(struct arena *arena, const struct minilink_job *job)
{
    struct word_list words = {.arena = arena};

    add_options(&words, job);
    return word_list_end(&words);
}

const char *const *ptxas_command(struct arena *arena, const struct ptxas *ptxas,
                                 const struct minilink_job *job, const char *option,
                                 const char *input, const char *output)
{
    struct word_list words = {.arena = arena};

    word_list_add(&words, ptxas->path);
    add_options(&words, job);
    if (option)
        word_list_add(&words, option);
    word_list_add_all(&words, (const char *[]){input, "-o", output, NULL});
    return word_list_end(&words);
}
