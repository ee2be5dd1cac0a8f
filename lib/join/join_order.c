/* join_order.c: the functions in the order of the unsplit program.
 *
 * Those that the splitter lists stand in its order; helpers that the assembler made stand behind
 * the first function that refers to them. */
#include "join/join_plan.h"

#include "base/search.h"

/* A kept code section on its way into the order. */
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

/* The entity that a kept definition in a code section gives it: its own function's, else an
 * alias's; JOIN_NONE when the section is not kept. */
static void name_texts(struct join *join, uint32_t cubin, uint32_t *entities)
{
    const struct cubin *c = join->inputs[cubin].cubin;

    for (uint32_t i = 0; i < c->section_count; i++)
        entities[i] = JOIN_NONE;
    for (uint32_t i = 1; i < c->symbol_count; i++) {
        const struct cubin_symbol *symbol = &c->symbols[i];
        uint32_t entity = join->inputs[cubin].entities[i];

        if (symbol->type != STT_FUNC || entity == JOIN_NONE ||
            !cubin_has_section(c, symbol->section) || !cubin_is_text(&c->sections[symbol->section]))
            continue;
        if (join->entities[entity].folded == JOIN_NONE && join_is_first(join, cubin, i) &&
            (entities[symbol->section] == JOIN_NONE ||
             (c->sections[symbol->section].info & 0xffffffu) == i))
            entities[symbol->section] = entity;
    }
}

static void find_candidates(struct order *order)
{
    struct join *join = order->join;
    size_t most = 0;

    for (uint32_t c = 0; c < join->count; c++)
        most += join->inputs[c].cubin->section_count;
    order->candidates = arena_alloc(&join->arena, most, sizeof *order->candidates);
    join->functions = arena_alloc(&join->arena, most, sizeof *join->functions);
    for (uint32_t c = 0; c < join->count; c++) {
        size_t count = join->inputs[c].cubin->section_count;
        uint32_t *entities = arena_alloc(&join->arena, count, sizeof *entities);

        name_texts(join, c, entities);
        for (uint32_t i = 1; i < count; i++) {
            const struct join_entity *entity;

            if (entities[i] == JOIN_NONE)
                continue;
            entity = &join->entities[entities[i]];
            order->candidates[order->count++] =
                (struct candidate){entity->listed,
                                   entity->is_local && entity->listed == JOIN_NONE,
                                   {c, i, entities[i]}};
        }
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->function.cubin != y->function.cubin)
        return x->function.cubin < y->function.cubin ? -1 : 1;
    return x->function.text < y->function.text ? -1 : 1;
}

static int by_offset(const void *a, const void *b)
{
    const struct call *x = a;
    const struct call *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->helper.entity > y->helper.entity) - (x->helper.entity < y->helper.entity);
}

static void append(struct join *join, const struct join_function *function)
{
    struct join_input_section *section = &join->inputs[function->cubin].sections[function->text];

    if (section->function != JOIN_NONE)
        return;
    section->function = (uint32_t)join->function_count;
    join->functions[join->function_count++] = *function;
}

/* Notes who the function at `position` refers to in one relocation section, and gathers its calls
 * of helpers. */
static void scan(struct order *order, uint32_t position, uint32_t section)
{
    struct join *join = order->join;
    uint32_t cubin = join->functions[position].cubin;
    const struct cubin_section *s = join_source(join, cubin, section);

    for (size_t i = 0; i < s->relocation_count; i++) {
        uint32_t entity = join_entity_of(join, cubin, s->relocations[i].symbol);
        struct join_entity *e;

        if (entity == JOIN_NONE)
            continue;
        e = &join->entities[entity];
        if (e->user == JOIN_NONE)
            e->user = position;
        if (e->group != JOIN_NONE && e->listed == JOIN_NONE)
            ARENA_PUSH(&join->arena, order->calls, order->call_count, order->call_capacity) =
                (struct call){s->relocations[i].offset,
                              {e->cubin, join_definition(join, entity)->section, entity}};
    }
}

/* Appends what the functions from `position` on bring with them. */
static void append_helpers(struct order *order, size_t position)
{
    struct join *join = order->join;

    for (; position < join->function_count; position++) {
        struct join_function function = join->functions[position];
        const struct join_input_section *sections = join->inputs[function.cubin].sections;

        order->call_count = 0;
        for (uint32_t i = sections[function.text].next_owned; i; i = sections[i].next_owned)
            scan(order, (uint32_t)position, i);
        SORT(order->calls, order->call_count, by_offset);
        for (size_t i = 0; i < order->call_count; i++)
            append(join, &order->calls[i].helper);
    }
}

/* References that do not come from a kept function. */
static void note_other_users(struct join *join)
{
    for (uint32_t c = 0; c < join->count; c++) {
        const struct join_input *input = &join->inputs[c];

        for (size_t i = 1; i < input->cubin->section_count; i++) {
            const struct cubin_section *section = &input->cubin->sections[i];
            uint32_t text = input->sections[i].text;

            if (text && input->sections[text].function != JOIN_NONE)
                continue;
            for (size_t k = 0; k < section->relocation_count; k++) {
                uint32_t entity = join_entity_of(join, c, section->relocations[k].symbol);

                if (entity != JOIN_NONE && text)
                    join->entities[entity].used_by_copy = true;
                else if (entity != JOIN_NONE)
                    join->entities[entity].used_by_data = true;
            }
        }
    }
}

void join_order(struct join *join)
{
    struct order order = {.join = join};

    find_candidates(&order);
    SORT(order.candidates, order.count, by_rank);
    /* Helpers first through their users; one that nothing refers to comes last. */
    for (int helpers = 0; helpers < 2; helpers++)
        for (size_t i = 0; i < order.count; i++) {
            size_t position = join->function_count;

            if (order.candidates[i].is_helper != (helpers == 1))
                continue;
            append(join, &order.candidates[i].function);
            append_helpers(&order, position);
        }
    note_other_users(join);
}
