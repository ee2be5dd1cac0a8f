/* texts.c: what tool_damage makes of PTX. */
#include <stdlib.h>
#include <string.h>

#include "damage/trial.h"
#include "diag/diag.h"
#include "input/used.h"
#include "parts/parts.h"
#include "ptx/lexer.h"
#include "split/split.h"
#include "toy/builtin.h"
#include "verdict.h"

/* Where each line of a chunk is from. */
static void add_origins(struct buffer *out, const struct chunks *chunks, const struct chunk *chunk)
{
    uint32_t last = text_count_lines(chunk->text, 0, chunk->text.size) + 2;

    for (uint32_t line = 1, from; line <= last; line++) {
        const char *member;

        if (!chunk_origin(chunks, chunk, line, &member, &from))
            continue;
        buffer_string(out, member);
        buffer_char(out, (char)line);
        buffer_char(out, (char)from);
    }
}

static void add_chunks(struct buffer *out, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *c = &chunks->list[i];

        buffer_text(out, c->text);
        TRIAL_ADD_NUMBERS(out, c->weight, c->priority, c->function_count, c->replica_count,
                          c->is_unchanged);
        trial_add_text(out, text_of(c->first_function ? c->first_function : ""));
        add_origins(out, chunks, c);
    }
    for (size_t i = 0; i < chunks->symbol_count; i++) {
        const struct chunk_symbol *s = &chunks->symbols[i];

        trial_add_text(out, s->name);
        trial_add_text(out, s->own_name);
        trial_add_text(out, text_of(chunks->sources[i].member));
        TRIAL_ADD_NUMBERS(out, s->binding, s->is_function, s->is_common, s->alignment,
                          chunks->sources[i].chunk, chunks->sources[i].is_kernel);
    }
    for (uint32_t i = 0; i < chunks->bank4_count; i++)
        buffer_text(out, chunks->bank4_kernels[i]);
    for (uint32_t i = 0; i < chunks->driver_function_count; i++)
        buffer_text(out, chunks->driver_functions[i]);
    buffer_printf(out, "%s %d %zu\n", chunks->single_reason ? chunks->single_reason : "",
                  chunks->is_exact, chunks->line_count);
}

bool trial_split(struct trial *trial)
{
    const char *options = trial->options;
    struct program_request link = {
        .arch = {90, 0},
        .allow_undefined = strchr(options, 'u'),
        .keep_dead = strchr(options, 'd'),
        .takes_first = strchr(options, 't'),
        .drop_variables = strchr(options, 'l'),
        .wants_marks = strchr(options, 's'),
    };
    struct split_request split = {.minimum_bytes = !strchr(options, 'a'),
                                  .threads = strchr(options, 'p') ? 8 : 0,
                                  .arch = {90, 0}};
    struct program_source sources[TRIAL_MOST];
    struct program program = {0};
    struct chunks chunks = {0};
    bool ok;

    for (size_t i = 0; i < trial->count; i++)
        sources[i] = (struct program_source){trial->names[i], trial->inputs[i]};
    split.wanted = (uint32_t)atoi(options);
    split.is_exact = strchr(options, 'e');
    if (strchr(options, 's'))
        split.policy = SPLIT_STABLE;
    if (strchr(options, 'k'))
        split.policy = SPLIT_KERNEL;
    split.explanation = &trial->made;
    ok = program_link(&program, sources, trial->count, &link);
    if (ok) {
        split_program(&chunks, &program, &split);
        add_chunks(&trial->made, &chunks);
    }
    chunks_free(&chunks);
    program_free(&program);
    return ok;
}

/* Variables that host code names are those of the option; "*" is all that there are. */
bool trial_parts(struct trial *trial)
{
    const struct used_request names = {.variables = (const char *const[]){trial->options, NULL},
                                       .is_lto = true};
    struct inputs none = {0};
    struct used_names used = {0};
    struct arena arena = {0};
    struct parts_result result = {0};
    struct parts_request request = {.texts = trial->inputs, .count = trial->count};
    enum parts_answer answer = PARTS_FAILED;

    if (used_collect(&used, &none, &names)) {
        request.used = strcmp(trial->options, "*") == 0 ? NULL : &used;
        answer = parts_join(&result, &arena, &request);
    }
    if (answer == PARTS_JOINED)
        buffer_printf(&trial->made, "%zu %.*s", result.several, TEXT_ARG(result.ptx));
    else if (answer == PARTS_DISAGREE)
        buffer_string(&trial->made, result.difference);
    used_free(&used);
    inputs_close(&none);
    arena_free(&arena);
    return answer != PARTS_FAILED;
}

static char *program_of(const struct trial *trial, const char **arch, char own[16])
{
    struct text text = trial->inputs[0];
    struct buffer line = {0};
    char *program;

    if (!trial->frame)
        return strndup(text.data, text.size);
    buffer_text(&line, trial->target);
    buffer_string(&line, trial->target.size > 0 ? " " : "");
    buffer_text(&line, text);
    buffer_char(&line, '\0');
    program = verdict_program(trial->frame, line.data, arch, own);
    buffer_free(&line);
    return program;
}

/* The built-in assembler makes a cubin. */
bool trial_assemble(struct trial *trial)
{
    const char *options[8] = {NULL};
    char own[16], *words = strdup(trial->options), *rest = words;
    const char *arch = strsep(&rest, " ");
    char *ptx = program_of(trial, &arch, own);
    struct minilink_result result = {.size = sizeof result};
    struct minilink_job job = {.size = sizeof job,
                               .name = "p",
                               .ptx = ptx,
                               .ptx_size = strlen(ptx),
                               .arch = arch,
                               .sm = (uint32_t)atoi(arch + 3),
                               .options = options,
                               .threads = 1};
    int code;

    for (size_t i = 0; rest && i < 7; i++) {
        options[i] = strsep(&rest, " ");
        job.debug |= strcmp(options[i], "-g") == 0;
        job.line_info |= strcmp(options[i], "-lineinfo") == 0;
    }
    code = builtin_assembler.assemble(builtin_assembler.state, &job, &result);
    if (result.cubin)
        buffer_append(&trial->made, result.cubin, result.cubin_size);
    if (result.log)
        diag_error("%d %s", code, result.log);
    free(result.cubin);
    free(result.log);
    free(ptx);
    free(words);
    return code == MINILINK_OK || code == MINILINK_WARNED;
}
