/* remote_command.c: the words in front of a job's files.
 *
 * ptxas is run as it is, since sccache, and whoever looks at a list of processes, knows it; its
 * messages a distributor may or may not keep apart. Any other assembler is minilink's, or is called
 * through it. */
#include "assemble/remote_command.h"

#include <stdlib.h>
#include <string.h>

#include "diag/diag_state.h"
#include "os/exec.h"

/* What a job needs of memory. Measured on sm_90, kernels of 6 KB of PTX: ptxas 13.0 takes 26 MiB
 * for one, 83 MiB for 1.8 MB of them and 320 MiB for 9 MB, the built-in assembler 13, 20 and 48
 * MiB; one large kernel takes more than many small ones. */
#define PTXAS_MEMORY          ((uint64_t)64 << 20)
#define PTXAS_MEMORY_PER_BYTE 64u
#define OWN_MEMORY            ((uint64_t)32 << 20)
#define OWN_MEMORY_PER_BYTE   8u

/* Words in an arena; the room is known beforehand. */
struct words {
    const char **list;
    size_t count;
};

static void add(struct words *words, const char *word)
{
    words->list[words->count++] = word;
    words->list[words->count] = NULL;
}

static void use_ptxas(struct distribute_batch *batch, const struct remote_chunks *elsewhere,
                      const struct minilink_job *job)
{
    const char *tool = elsewhere->distribution->tool;
    struct arena *arena = &batch->arena;
    const char **options = ptxas_options(arena, job);
    struct words words = {arena_alloc(arena, string_list_count(options) + 2, sizeof *words.list),
                          0};

    add(&words, tool ? tool : elsewhere->ptxas->path);
    for (size_t i = 0; options[i]; i++)
        add(&words, options[i]);
    batch->tool.words = words.list;
}

/* The options of assemble/single_chunk.h. */
static void use_minilink(struct distribute_batch *batch, const struct remote_chunks *elsewhere,
                         const struct minilink_job *job)
{
    const struct diag_state *state = diag_state_get();
    struct arena *arena = &batch->arena;
    const char *tool = elsewhere->distribution->tool, *name = elsewhere->assembler_name;
    size_t given = string_list_count(job->options);
    struct words words = {arena_alloc(arena, given + 13, sizeof *words.list), 0};
    static const char plugin[] = "plugin:";

    add(&words, tool ? tool : distribute_own_path(arena));
    add(&words, job->mode == MINILINK_MODE_WHOLE ? "--assemble-chunk=whole"
                                                 : "--assemble-chunk=relocatable");
    add(&words, arena_printf(arena, "--assembler=%s", name));
    add(&words, arena_printf(arena, "--assembler-version=%s", elsewhere->assembler_version));
    add(&words, arena_printf(arena, "-arch=%s", job->arch));
    if (elsewhere->ptxas)
        add(&words, arena_printf(arena, "--ptxas=%s", elsewhere->ptxas->path));
    if (job->debug)
        add(&words, "-g");
    if (job->line_info)
        add(&words, "-lineinfo");
    if (job->maxrregcount)
        add(&words, arena_printf(arena, "-maxrregcount=%u", job->maxrregcount));
    if (state->suppress_warnings)
        add(&words, "-w");
    if (state->warnings_are_errors)
        add(&words, "-Werror");
    for (size_t i = 0; i < given; i++)
        add(&words, arena_printf(arena, "-Xptxas=%s", job->options[i]));
    batch->tool.words = words.list;
    batch->tool.reports = true;
    if (text_starts(text_of(name), TEXT(plugin))) {
        struct words inputs = {arena_alloc(arena, 2, sizeof *inputs.list), 0};

        add(&inputs, name + sizeof plugin - 1);
        batch->tool.inputs = inputs.list;
    }
}

bool remote_command_reports(const struct distribution *distribution, bool is_ptxas)
{
    return !is_ptxas || distribute_is_minilink(distribution->tool);
}

void remote_command_choose(struct distribute_batch *batch, const struct remote_chunks *elsewhere)
{
    const struct work_item *item = elsewhere->items[0];
    const struct minilink_job job = workitem_job(item);

    batch->tool.input_suffix = ".ptx";
    batch->tool.output_suffix = ".cubin";
    batch->tool.time_limit = elsewhere->time_limit;
    batch->tool.memory = elsewhere->ptxas ? PTXAS_MEMORY : OWN_MEMORY;
    batch->tool.memory_per_byte = elsewhere->ptxas ? PTXAS_MEMORY_PER_BYTE : OWN_MEMORY_PER_BYTE;
    if (!remote_command_reports(elsewhere->distribution, elsewhere->ptxas != NULL))
        use_ptxas(batch, elsewhere, &job);
    else
        use_minilink(batch, elsewhere, &job);
}

void remote_command_choose_none(struct distribute_batch *batch)
{
    struct words words = {arena_alloc(&batch->arena, 2, sizeof *words.list), 0};

    add(&words, distribute_own_path(&batch->arena));
    batch->tool.words = words.list;
    batch->tool.input_suffix = batch->tool.output_suffix = "";
}
