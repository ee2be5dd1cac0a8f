/* parts.c: the steps of joining, each on all parts before the next begins. */
#include "lto/parts.h"

#include "base/context.h"
#include "lto/parts_steps.h"

static void free_joining(void *argument)
{
    struct joining *joining = argument;

    for (size_t i = 0; i < joining->part_count; i++)
        table_free(&joining->parts[i].names);
    table_free(&joining->lifted);
    arena_free(&joining->arena);
}

bool parts_differ(struct joining *joining, const char *what, struct text name)
{
    joining->difference =
        name.size ? arena_printf(joining->result_arena, "%s'%.*s'", what, TEXT_ARG(name))
                  : arena_string(joining->result_arena, text_of(what));
    return false;
}

static enum parts_answer run_steps(struct joining *joining, struct text *ptx)
{
    enum parts_answer answer = parts_read(joining);

    if (answer != PARTS_JOINED)
        return answer;
    if (!parts_name(joining) || !parts_agree(joining))
        return PARTS_DISAGREE;
    parts_arrange(joining);
    parts_name_versions(joining);
    *ptx = parts_write(joining);
    return PARTS_JOINED;
}

enum parts_answer parts_join(struct parts_result *result, struct arena *arena,
                             const struct parts_request *request)
{
    struct joining joining = {.request = request, .result_arena = arena};
    enum parts_answer answer;

    *result = (struct parts_result){0};
    CONTEXT_DEFER(free_joining, &joining);
    joining.parts = arena_zalloc(&joining.arena, request->count, sizeof *joining.parts);
    joining.part_count = request->count;
    answer = run_steps(&joining, &result->ptx);
    result->difference = joining.difference;
    for (size_t i = 0; answer == PARTS_JOINED && i < joining.symbol_count; i++)
        result->several += parts_stays_split(&joining, &joining.symbols[i]);
    return answer;
}
