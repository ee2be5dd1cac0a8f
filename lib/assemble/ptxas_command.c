/* ptxas_command.c: the words of a ptxas command. */
#include "assemble/ptxas.h"

#include "base/memory.h"

const char **ptxas_options(struct arena *arena, const struct minilink_job *job)
{
    size_t given = string_list_count(job->options), n = 0;
    const char **words = arena_alloc(arena, given + 7, sizeof *words);

    if (job->mode != MINILINK_MODE_WHOLE)
        words[n++] = "-c";
    words[n++] = arena_printf(arena, "-arch=%s", job->arch);
    words[n++] = "-m64";
    if (job->debug)
        words[n++] = "-g";
    if (job->line_info)
        words[n++] = "-lineinfo";
    if (job->maxrregcount)
        words[n++] = arena_printf(arena, "-maxrregcount=%u", job->maxrregcount);
    for (size_t i = 0; i < given; i++)
        words[n++] = job->options[i];
    words[n] = NULL;
    return words;
}

const char *const *ptxas_command(struct arena *arena, const struct ptxas *ptxas,
                                 const struct minilink_job *job, const char *option,
                                 const char *input, const char *output)
{
    const char **options = ptxas_options(arena, job);
    const char **argv = arena_alloc(arena, string_list_count(options) + 6, sizeof *argv);
    size_t n = 0;

    argv[n++] = ptxas->path;
    for (size_t i = 0; options[i]; i++)
        argv[n++] = options[i];
    if (option)
        argv[n++] = option;
    argv[n++] = input;
    argv[n++] = "-o";
    argv[n++] = output;
    argv[n] = NULL;
    return argv;
}
