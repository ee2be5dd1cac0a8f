/* join_order.c: puts the functions in the order of the unsplit program.
 *
 * Functions that the splitter lists stand in its order; helpers that the assembler made follow the
 * first function that refers to them. */
#include "join/join_plan.h"

#include "base/search.h"

/* A kept code section to be ordered. */
struct candidate {
    uint32_t rank;  /* chunk symbol, or JOIN_NONE */
    bool is_helper; /* local and not listed: placed by its first user */
    struct join_function function;
};

/* A reference to a helper. */
struct call {
    uint64_t offset;
    struct join_function helper;
};

struct order {
    struct join *join;
    struct candidate *candidates;
    size_t count;
    struct call *calls; /* of one function */
    size_t call_count;
    size_t call_capacity;
};

/* Sets the entity of each code section of a chunk whose definition is kept: its function's, else an
 * alias's. Other sections' entities are left unchanged. */
static void name_texts(const struct join *join, uint32_t cubin, uint32_t *entities)
{
    const struct join_input *input = &join->inputs[cubin];

    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        const struct join_section *text = join_section_of(input, i);
        uint32_t entity = input->entities[i];

        if (input->cubin->symbols[i].type != STT_FUNC || entity == JOIN_NONE || !text ||
            !cubin_is_text(text->source))
            continue;
        if (join->entities[entity].folded == JOIN_NONE && join_is_first(join, cubin, i) &&
            (entities[text - join->sections] == JOIN_NONE || (text->source->info & 0xffffffu) == i))
            entities[text - join->sections] = entity;
    }
}

static void find_candidates(struct order *order)
{
    struct join *join = order->join;
    uint32_t *entities = arena_alloc(&join->arena, join->section_count, sizeof *entities);

    order->candidates = arena_alloc(&join->arena, join->section_count, sizeof *order->candidates);
    join->functions = arena_alloc(&join->arena, join->section_count, sizeof *join->functions);
    for (size_t i = 0; i < join->section_count; i++)
        entities[i] = JOIN_NONE;
    for (uint32_t c = 0; c < join->count; c++)
        name_texts(join, c, entities);
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_entity *entity;

        if (entities[i] == JOIN_NONE)
            continue;
        entity = &join->entities[entities[i]];
        order->candidates[order->count++] =
            (struct candidate){entity->listed,
                               entity->is_local && entity->listed == JOIN_NONE,
                               {&join->sections[i], entities[i]}};
    }
}

static int compare_function_ranks(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->function.text < y->function.text ? -1 : 1;
}

COMPARISON(compare_calls, struct call,
           COMPARE(a->offset, b->offset) ?: COMPARE(a->helper.entity, b->helper.entity));

static void append_function(struct join *join, const struct join_function *function)
{
    if (function->text->function != JOIN_NONE)
        return;
    function->text->function = (uint32_t)join->function_count;
    join->functions[join->function_count++] = *function;
}

/* Notes the entities that the function at `position` refers to in one relocation section, and
 * gathers its calls of helpers. */
static void scan_references(struct order *order, uint32_t position, const struct join_section *list)
{
    struct join *join = order->join;
    const struct cubin_section *s = list->source;

    for (size_t i = 0; i < s->relocation_count; i++) {
        uint32_t entity = join_entity_of(join, list->cubin, s->relocations[i].symbol);
        struct join_entity *e;

        if (entity == JOIN_NONE)
            continue;
        e = &join->entities[entity];
        if (e->user == JOIN_NONE)
            e->user = position;
        if (e->group != JOIN_NONE && e->listed == JOIN_NONE)
            ARENA_PUSH(&join->arena, order->calls, order->call_count, order->call_capacity) =
                (struct call){s->relocations[i].offset,
                              {join_definition_section(join, entity), entity}};
    }
}

/* Appends the helpers that the functions from `position` on bring with them. */
static void append_helpers(struct order *order, size_t position)
{
    struct join *join = order->join;

    for (; position < join->function_count; position++) {
        const struct join_section *s = join->functions[position].text;

        order->call_count = 0;
        while ((s = s->next_owned))
            scan_references(order, (uint32_t)position, s);
        SORT(order->calls, order->call_count, compare_calls);
        for (size_t i = 0; i < order->call_count; i++)
            append_function(join, &order->calls[i].helper);
    }
}

/* Notes references that do not come from a kept function. */
static void note_other_users(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *section = &join->sections[i];

        if (section->text && section->text->function != JOIN_NONE)
            continue;
        for (size_t k = 0; k < section->source->relocation_count; k++) {
            uint32_t entity =
                join_entity_of(join, section->cubin, section->source->relocations[k].symbol);

            if (entity != JOIN_NONE && section->text)
                join->entities[entity].used_by_copy = true;
            else if (entity != JOIN_NONE)
                join->entities[entity].used_by_data = true;
        }
    }
}

void join_order(struct join *join)
{
    struct order order = {.join = join};

    find_candidates(&order);
    SORT(order.candidates, order.count, compare_function_ranks);
    /* Helpers are placed by their users first; helpers without references come last. */
    for (int helpers = 0; helpers < 2; helpers++)
        for (size_t i = 0; i < order.count; i++) {
            size_t position = join->function_count;

            if (order.candidates[i].is_helper != (helpers == 1))
                continue;
            append_function(join, &order.candidates[i].function);
            append_helpers(&order, position);
        }
    note_other_users(join);
}
