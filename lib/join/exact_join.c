/* exact_join.c: the steps of an exact join, in order. */
#include "join/exact_join.h"

#include "base/context.h"
#include "cubin/format.h"
#include "join/exact_plan.h"

static bool stop(struct exact *join, enum exact_join_outcome outcome, size_t chunk, size_t section,
                 const char *what)
{
    const struct cubin *cubin = chunk < join->opened ? &join->inputs[chunk].cubin : NULL;

    join->outcome = outcome;
    *join->why = (struct exact_join_difference){.chunk = chunk, .what = what};
    if (section > 0 && cubin && section < cubin->section_count)
        join->why->section = cubin->sections[section].name;
    return false;
}

bool exact_differs(struct exact *join, size_t chunk, size_t section, const char *what)
{
    return stop(join, EXACT_JOIN_DIFFERS, chunk, section, what);
}

bool exact_unsupported(struct exact *join, size_t chunk, size_t section, const char *what)
{
    return stop(join, EXACT_JOIN_UNSUPPORTED, chunk, section, what);
}

unsigned exact_sm(const struct exact *join)
{
    return CUBIN_FLAGS_SM(join->inputs[0].cubin.flags);
}

static bool run(struct exact *join)
{
    return exact_read(join) && exact_join_section_names(join) && exact_join_sections(join) &&
           exact_join_symbols(join) && exact_check_shared(join) && exact_join_strings(join) &&
           exact_write_symbols(join) && exact_fill(join) && exact_finish_headers(join) &&
           exact_layout(join);
}

static void free_join(void *argument)
{
    struct exact *join = argument;

    for (size_t i = 0; i < join->count; i++) {
        cubin_free(&join->inputs[i].cubin);
        table_free(&join->inputs[i].symbols);
        table_free(&join->inputs[i].sections);
    }
    table_free(&join->kernels);
    table_free(&join->seen);
    buffer_free(&join->scratch);
    image_strings_free(&join->strings);
    image_free(&join->image);
    arena_free(&join->arena);
}

/* The name in *why lies in a chunk's bytes, not in what is freed here. */
enum exact_join_outcome exact_join(struct buffer *image, const struct exact_join_request *request,
                                   struct exact_join_difference *why)
{
    struct exact join = {.request = request, .why = why, .outcome = EXACT_JOIN_OK};

    *why = (struct exact_join_difference){0};
    if (request->count == 1 && request->chunks[0].left_out_count == 0) {
        buffer_append(image, request->chunks[0].cubin.data, request->chunks[0].cubin.size);
        return EXACT_JOIN_OK;
    }
    CONTEXT_DEFER(free_join, &join);
    join.inputs = arena_zalloc(&join.arena, request->count, sizeof *join.inputs);
    join.count = request->count;
    if (request->count == 0 || request->kernel_count == 0)
        stop(&join, EXACT_JOIN_UNSUPPORTED, 0, 0, "there is nothing to join");
    else if (run(&join))
        image_bytes(&join.image, image);
    return join.outcome;
}
