/* join_unite.c: the sections that all functions share: data, debug information.
 *
 * Sections of one name and type become one. Their blocks stand in program order, so that the result
 * does not show which chunk a block came from; sections that could not be cut stand one behind the
 * other in chunk order. */
#include "join/join_plan.h"

#include "base/context.h"
#include "base/search.h"

/* True for a section type that is neither made anew nor belongs to one function. */
static bool is_united_type(const struct join *join, const struct cubin_section *section)
{
    if (cubin_is_mercury(section))
        return join->has_twins && cubin_twin_is_shared(section);
    switch (section->type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_REL:
    case SHT_RELA:
    case SHT_NOTE:
    case SHT_CUDA_INFO:
    case SHT_CUDA_COMPAT:
    case SHT_CUDA_CALLGRAPH:
    case SHT_CUDA_PROTOTYPE:
    case SHT_CUDA_RESOLVED_RELA:
    case SHT_CUDA_RELOCINFO:
        return false;
    default:
        return true;
    }
}

static uint32_t united_for(struct join *join, struct table *names, size_t *capacity, uint32_t cubin,
                           uint32_t section)
{
    const struct cubin_section *source = join_source(join, cubin, section);
    const char *key = arena_printf(&join->arena, "%x %.*s", source->type, TEXT_ARG(source->name));
    uint32_t index = table_add(names, text_of(key), (uint32_t)join->united_count);
    struct united_section *united;

    if (index == join->united_count)
        ARENA_PUSH(&join->arena, join->united, join->united_count, *capacity) =
            (struct united_section){
                .source = source,
                .cubin = cubin,
                .section = section,
                .alignment = 1,
                .is_shared = source->type == SHT_CUDA_SHARED,
                .is_frames = text_equal(cubin_twin_plain_name(source->name), TEXT(".debug_frame")),
                .is_copied = join_is_copied_twin(source)};
    united = &join->united[index];
    if (source->alignment > united->alignment)
        united->alignment = source->alignment;
    return index;
}

/* Calls function(join, chunk, section) for each section that is united. */
static void for_each(struct join *join, void (*function)(struct join *, uint32_t, uint32_t))
{
    for (uint32_t c = 0; c < join->count; c++)
        for (uint32_t i = 1; i < join->inputs[c].cubin->section_count; i++)
            if (join->inputs[c].sections[i].united != JOIN_NONE)
                function(join, c, i);
}

static struct united_section *united_of(const struct join *join, uint32_t cubin, uint32_t section)
{
    return &join->united[join->inputs[cubin].sections[section].united];
}

static void cut(struct join *join, uint32_t cubin, uint32_t section)
{
    struct united_section *united = united_of(join, cubin, section);
    const struct join_input_section *sections = join->inputs[cubin].sections;

    if (united->is_copied)
        return;
    for (uint32_t i = sections[section].first_relocations; i; i = sections[i].next_relocations)
        if (join->inputs[cubin].cubin->sections[i].type == SHT_REL)
            united->has_in_place = true;
    if (!united->is_shared && !united->is_whole)
        united->is_whole = !join_blocks(join, cubin, section);
}

/* A reference that counts from the begin of a section must hit one of its blocks. */
static void check_reference(const struct join *join, uint32_t cubin, uint32_t section,
                            const struct cubin_relocation *relocation)
{
    const struct join_input *input = &join->inputs[cubin];
    uint32_t seen = join_seen_section(join, cubin, section, relocation->symbol);
    struct united_section *united;
    int64_t addend;

    if (input->cubin->symbols[relocation->symbol].type != STT_SECTION ||
        seen >= input->cubin->section_count || input->sections[seen].united == JOIN_NONE)
        return;
    if (united_of(join, cubin, seen)->is_copied)
        seen = input->sections[seen].plain;
    if (seen == 0 || input->sections[seen].united == JOIN_NONE)
        return;
    united = united_of(join, cubin, seen);
    if (united->is_frames && input->cubin->sections[section].info == seen)
        return; /* a frame's reference to its CIE is made anew */
    addend = join_addend(input->cubin, section, relocation);
    if (!united->is_shared && !united->is_whole &&
        (addend < 0 || !join_blocks_at(join, cubin, seen, (uint64_t)addend)))
        united->is_whole = true;
}

static void check_references(const struct join *join)
{
    for (uint32_t c = 0; c < join->count; c++) {
        const struct cubin *cubin = join->inputs[c].cubin;

        for (uint32_t i = 1; i < cubin->section_count; i++)
            for (size_t k = 0; k < join->inputs[c].sections[i].relocation_count; k++)
                check_reference(join, c, i, &join->inputs[c].sections[i].relocations[k]);
    }
}

static void gather_blocks(struct join *join, uint32_t cubin, uint32_t section)
{
    struct united_section *united = united_of(join, cubin, section);
    struct join_input_section *s = &join->inputs[cubin].sections[section];

    if (united->is_whole)
        join_blocks_whole(join, cubin, section);
    for (size_t i = 0; i < s->block_count; i++)
        if (s->blocks[i].is_kept)
            ARENA_PUSH(&join->arena, united->blocks, united->block_count, united->block_capacity) =
                &s->blocks[i];
}

static int by_order(const void *a, const void *b)
{
    const struct join_block *x = *(struct join_block *const *)a;
    const struct join_block *y = *(struct join_block *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->cubin != y->cubin)
        return x->cubin < y->cubin ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->section > y->section) - (x->section < y->section);
}

/* Places the blocks of one united section and copies their bytes. */
static void place(struct join *join, struct united_section *united)
{
    SORT(united->blocks, united->block_count, by_order);
    for (size_t i = 0; i < united->block_count; i++) {
        struct join_block *block = united->blocks[i];
        uint64_t rest = united->size % block->alignment;

        block->placed = united->size + (rest ? block->alignment - rest : 0);
        united->size = block->placed + block->size;
        if (block->alignment > united->alignment)
            united->alignment = block->alignment;
    }
    if (united->source->has_no_bytes)
        return;
    united->data = arena_zalloc(&join->out->arena, united->size, 1);
    for (size_t i = 0; i < united->block_count; i++) {
        const struct join_block *block = united->blocks[i];

        if (block->size)
            memcpy(united->data + block->placed,
                   join_source(join, block->cubin, block->section)->data.data + block->offset,
                   block->size);
    }
}

/* Gives the objects of a section their new values. */
static void place_objects(struct join *join, uint32_t cubin, uint32_t section)
{
    const struct join_input *input = &join->inputs[cubin];
    struct united_section *united = united_of(join, cubin, section);

    for (uint32_t i = input->sections[section].first_object; i; i = input->next_object[i]) {
        struct join_entity *entity = &join->entities[input->entities[i]];

        if (!join_is_first(join, cubin, i))
            continue;
        if (united->is_shared)
            united->size += entity->size;
        else
            entity->value =
                join_blocks_translate(join, cubin, section, input->cubin->symbols[i].value);
    }
}

void join_unite_sections(struct join *join)
{
    struct table names = {0};
    size_t capacity = 0;

    CONTEXT_DEFER(table_cleanup, &names);
    for (uint32_t c = 0; c < join->count; c++)
        for (uint32_t i = 1; i < join->inputs[c].cubin->section_count; i++)
            if (!join->inputs[c].sections[i].text &&
                is_united_type(join, &join->inputs[c].cubin->sections[i]))
                join->inputs[c].sections[i].united = united_for(join, &names, &capacity, c, i);

    for_each(join, cut);
    check_references(join);
    for_each(join, gather_blocks);
    for (size_t i = 0; i < join->united_count; i++)
        if (!join->united[i].is_shared && !join->united[i].is_copied)
            place(join, &join->united[i]);
    join_unite_twins(join);
    for_each(join, place_objects);
}
