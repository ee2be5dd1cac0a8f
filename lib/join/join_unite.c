/* join_unite.c: the sections that all functions share: data, debug information.
 *
 * Sections of one name and type become one. Their blocks stand in program order, so that the result
 * does not depend on the chunk that a block came from; sections that could not be cut are
 * concatenated in chunk order. */
#include "join/join_plan.h"

#include "base/context.h"
#include "base/search.h"
#include "cubin/unknown.h"

/* Classes of sections that are neither made anew nor belong to one function. */
#define CLASSES_UNITED                                                                             \
    (CLASS_SET(DEBUG) | CLASS_SET(OTHER) | CLASS_SET(CONSTANT) | CLASS_SET(FUNCTION_CONSTANT) |    \
     CLASS_SET(GLOBAL_INIT) | CLASS_SET(SHARED) | CLASS_SET(DEBUG_SHARED) | CLASS_SET(RESERVED) |  \
     CLASS_SET(GLOBAL))
#define TWINS_UNITED                                                                               \
    (CLASS_SET(TWIN_DEBUG) | CLASS_SET(TWIN_OTHER) | CLASS_SET(TWIN_CONSTANT) |                    \
     CLASS_SET(TWIN_GLOBAL_INIT) | CLASS_SET(TWIN_RESERVED))

static struct united_section *united_for(struct join *join, struct table *names,
                                         const struct join_section *section)
{
    const struct cubin_section *source = section->source;
    bool is_apart = unknown_is(source) && !unknown_is_joinable(source); /* the merge judges them */
    const char *key = arena_printf(&join->arena, "%u %x %.*s", is_apart ? section->cubin : 0,
                                   source->type, TEXT_ARG(source->name));
    uint32_t index = table_add(names, text_of(key), (uint32_t)join->united_count);
    struct united_section *united;

    if (index < join->united_count) {
        united = join->united[index];
    } else {
        united = arena_alloc(&join->arena, 1, sizeof *united);
        *united = (struct united_section){
            .first = section,
            .alignment = 1,
            .is_shared = source->type == SHT_CUDA_SHARED,
            .is_frames = text_equal(cubin_twin_plain_name(source->name), TEXT(".debug_frame")),
            .is_copied = join_is_copied_twin(source)};
        ARENA_PUSH(&join->arena, join->united, join->united_count, join->united_capacity) = united;
    }
    if (source->alignment > united->alignment)
        united->alignment = source->alignment;
    return united;
}

/* Calls function(join, section) for each section that is united. */
static void for_each_united(struct join *join,
                            void (*function)(struct join *, struct join_section *))
{
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].united)
            function(join, &join->sections[i]);
}

static bool keeps_order(const struct join *join, const struct join_section *section)
{
    return join->keeps_data && (section->source->type == SHT_CUDA_GLOBAL ||
                                section->source->type == SHT_CUDA_GLOBAL_INIT ||
                                section->source->type == SHT_CUDA_CONSTANT0 + 3);
}

static void cut_section(struct join *join, struct join_section *section)
{
    struct united_section *united = section->united;

    if (united->is_copied)
        return;
    for (const struct join_section *s = section->first_relocations; s; s = s->next_relocations)
        if (s->source->type == SHT_REL)
            united->has_in_place = true;
    if (!united->is_shared && !united->is_whole)
        united->is_whole = keeps_order(join, section) || !join_blocks(join, section);
}

/* If a reference against a section symbol hits no block, makes its section whole. */
static void check_reference(const struct join_section *list,
                            const struct cubin_relocation *relocation)
{
    const struct join_section *seen = join_seen_section(list, relocation->symbol);
    struct united_section *united;
    int64_t addend;

    if (list->input->cubin->symbols[relocation->symbol].type != STT_SECTION || !seen ||
        !seen->united)
        return;
    if (seen->united->is_copied)
        seen = seen->plain;
    if (!seen || !seen->united)
        return;
    united = seen->united;
    if (united->is_frames && list->target == seen)
        return; /* an FDE's reference to its CIE is made anew */
    addend = join_addend(list, relocation);
    if (!united->is_shared && !united->is_whole &&
        (addend < 0 || !join_blocks_at(seen, (uint64_t)addend)))
        united->is_whole = true;
}

static void check_references(const struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++)
        for (size_t k = 0; k < join->sections[i].relocation_count; k++)
            check_reference(&join->sections[i], &join->sections[i].relocations[k]);
}

static void gather_blocks(struct join *join, struct join_section *section)
{
    struct united_section *united = section->united;

    if (united->is_whole)
        join_blocks_whole(join, section);
    for (size_t i = 0; i < section->block_count; i++)
        if (section->blocks[i].is_kept)
            ARENA_PUSH(&join->arena, united->blocks, united->block_count, united->block_capacity) =
                &section->blocks[i];
}

static int compare_blocks(const void *a, const void *b)
{
    const struct join_block *x = *(struct join_block *const *)a;
    const struct join_block *y = *(struct join_block *const *)b;

    return COMPARE(x->rank, y->rank) ?:
           COMPARE(x->order, y->order) ?:
           COMPARE(x->section->cubin, y->section->cubin) ?:
           COMPARE(x->offset, y->offset) ?:
           COMPARE(x->section, y->section);
}

/* Places the blocks of one united section and copies their bytes. */
static void place_blocks(struct join *join, struct united_section *united)
{
    SORT(united->blocks, united->block_count, compare_blocks);
    for (size_t i = 0; i < united->block_count; i++) {
        struct join_block *block = united->blocks[i];
        uint64_t rest = united->size % block->alignment;

        block->placed = united->size + (rest ? block->alignment - rest : 0);
        united->size = block->placed + block->size;
        if (block->alignment > united->alignment)
            united->alignment = block->alignment;
    }
    if (united->first->source->has_no_bytes)
        return;
    united->data = arena_zalloc(&join->out->arena, united->size, 1);
    for (size_t i = 0; i < united->block_count; i++) {
        const struct join_block *block = united->blocks[i];

        if (block->size)
            memcpy(united->data + block->placed, block->section->source->data.data + block->offset,
                   block->size);
    }
}

/* Sets the new values of a section's objects. */
static void place_objects(struct join *join, struct join_section *section)
{
    const struct join_input *input = section->input;

    for (uint32_t i = section->first_object; i; i = input->next_object[i]) {
        struct join_entity *entity = &join->entities[input->entities[i]];

        if (!join_is_first(join, section->cubin, i))
            continue;
        if (section->united->is_shared)
            section->united->size += entity->size;
        else
            entity->value = join_blocks_translate(join, section, input->cubin->symbols[i].value);
    }
}

void join_unite_sections(struct join *join)
{
    uint64_t classes = CLASSES_UNITED | (join->has_twins ? TWINS_UNITED : 0);
    struct table names = {0};

    CONTEXT_DEFER(table_cleanup, &names);
    for (size_t i = 0; i < join->section_count; i++) {
        struct join_section *section = &join->sections[i];

        if (!section->text && section->source->type != SHT_NULL &&
            class_is_in(section->class, classes))
            section->united = united_for(join, &names, section);
    }
    for_each_united(join, cut_section);
    check_references(join);
    for_each_united(join, gather_blocks);
    for (size_t i = 0; i < join->united_count; i++)
        if (!join->united[i]->is_shared && !join->united[i]->is_copied)
            place_blocks(join, join->united[i]);
    join_unite_twins(join);
    for_each_united(join, place_objects);
}
