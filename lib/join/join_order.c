/* join_order.c: puts the functions in the order of the unsplit program.
 *
 * Functions that the splitter lists stand in its order; helpers that the assembler made follow the
 * first function that refers to them. */
#include "join/join_plan.h"

#include "base/search.h"

/* A reference to a helper. */
struct call {
    uint64_t offset;
    struct join_entity *helper;
};

/* The calls of one function. */
struct calls {
    struct call *list;
    size_t count, capacity;
};

/* Whether its first user places it: local, and not listed. */
static bool is_helper(const struct join_entity *entity)
{
    return entity->is_local && entity->listed == JOIN_NONE;
}

/* Sets the entity of each code section of a chunk whose definition is kept: its function's, else an
 * alias's. */
static void name_texts(const struct join_input *input)
{
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        struct join_section *text = join_section_of(input, i);

        if (input->cubin->symbols[i].type == STT_FUNC && text && cubin_is_text(text->source) &&
            join_is_first(input, i) && (!text->entity || (text->source->info & 0xffffffu) == i))
            text->entity = input->entities[i];
    }
}

COMPARISON(compare_texts, struct join_section *,
           COMPARE((*a)->entity->listed, (*b)->entity->listed) ?: COMPARE(*a, *b));

/* The kept code sections, listed ones first, in their order. */
static struct join_section **find_kept(struct join *join, size_t *count)
{
    struct join_section **kept = arena_alloc(&join->arena, join->section_count, sizeof *kept);

    for (size_t i = 0; i < join->count; i++)
        name_texts(&join->inputs[i]);
    *count = 0;
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].entity)
            kept[(*count)++] = &join->sections[i];
    SORT(kept, *count, compare_texts);
    return kept;
}

COMPARISON(compare_calls, struct call,
           COMPARE(a->offset, b->offset) ?: COMPARE(a->helper, b->helper));

static void append_function(struct join *join, struct join_section *text,
                            struct join_entity *entity)
{
    if (text->function != JOIN_NONE)
        return;
    text->entity = entity;
    text->function = (uint32_t)join->function_count;
    join->functions[join->function_count++] = text;
}

/* Notes the entities that the function at `position` refers to in one relocation section, and
 * gathers its calls of helpers. */
static void scan_references(struct join *join, struct calls *calls, uint32_t position,
                            const struct join_section *list)
{
    const struct cubin_section *s = list->source;

    for (size_t i = 0; i < s->relocation_count; i++) {
        struct join_entity *entity = list->input->entities[s->relocations[i].symbol];

        if (!entity)
            continue;
        if (entity->user == JOIN_NONE)
            entity->user = position;
        if (entity->group != JOIN_NONE && entity->listed == JOIN_NONE)
            ARENA_PUSH(&join->arena, calls->list, calls->count, calls->capacity) =
                (struct call){s->relocations[i].offset, entity};
    }
}

/* Appends the helpers that the functions from `position` on bring with them. */
static void append_helpers(struct join *join, struct calls *calls, size_t position)
{
    for (; position < join->function_count; position++) {
        const struct join_section *s = join->functions[position];

        calls->count = 0;
        while ((s = s->next_owned))
            if (!cubin_is_mercury(s->source))
                scan_references(join, calls, (uint32_t)position, s);
        SORT(calls->list, calls->count, compare_calls);
        for (size_t i = 0; i < calls->count; i++)
            append_function(join, calls->list[i].helper->section, calls->list[i].helper);
    }
}

/* Notes references that do not come from a kept function. */
static void note_other_users(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *section = &join->sections[i];

        if (cubin_is_mercury(section->source) ||
            (section->text && section->text->function != JOIN_NONE))
            continue;
        for (size_t k = 0; k < section->source->relocation_count; k++) {
            struct join_entity *entity =
                section->input->entities[section->source->relocations[k].symbol];

            if (entity && section->text)
                entity->used_by_copy = true;
            else if (entity)
                entity->used_by_data = true;
        }
    }
}

void join_order(struct join *join)
{
    struct calls calls = {0};
    size_t count;
    struct join_section **kept = find_kept(join, &count);

    join->functions = arena_alloc(&join->arena, join->section_count, sizeof *join->functions);
    /* Helpers are placed by their users first; helpers without references come last. */
    for (int helpers = 0; helpers < 2; helpers++)
        for (size_t i = 0; i < count; i++) {
            size_t position = join->function_count;

            if (is_helper(kept[i]->entity) != (helpers == 1))
                continue;
            append_function(join, kept[i], kept[i]->entity);
            append_helpers(join, &calls, position);
        }
    note_other_users(join);
}
