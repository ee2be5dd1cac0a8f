/* join_unite.c: the sections that all functions share: data, debug information.
 *
 * Sections of one name and type become one. They are cut into blocks that can move independently,
 * which stand in program order, so that the result does not depend on the chunk that a block came
 * from: data into objects (those that overlap stay together), .debug_frame into the pair of entries
 * that describes one function, .debug_line into units if each is of one function, as in a chunk
 * that has one. Sections that are not made as expected are concatenated in chunk order. */
#include "join/internal.h"

#include "base/search.h"
#include "cubin/contents.h"
#include "cubin/image.h"

/* Alignment of an object that the splitter does not list, unless its place shows a larger one. */
#define USUAL_ALIGNMENT 16u

struct object {
    uint64_t offset;
    uint64_t size;
    uint32_t symbol;
};

COMPARISON(compare_objects, struct object,
           COMPARE(a->offset, b->offset) ?: COMPARE(b->size, a->size)
               ?: COMPARE(a->symbol, b->symbol));

/* The section's objects by offset. */
static struct object *find_objects(struct join *join, const struct join_section *section,
                                   size_t *count)
{
    struct object *objects = NULL;
    size_t capacity = 0;

    *count = 0;
    for (uint32_t i = section->first_object; i; i = section->input->next_object[i]) {
        const struct cubin_symbol *symbol = &section->input->cubin->symbols[i];

        ARENA_PUSH(&join->arena, objects, *count, capacity) =
            (struct object){symbol->value, symbol->size, i};
    }
    SORT(objects, *count, compare_objects);
    return objects;
}

/* The alignment of an object: the listed one, or the largest that its offset allows, but at least
 * the usual one. The offset depends on the objects before it in the chunk; with the minimum, small
 * alignments do not. */
static uint64_t object_alignment(const struct join *join, const struct join_entity *entity,
                                 uint64_t offset, uint64_t section_alignment)
{
    uint64_t alignment = offset & (~offset + 1);

    if (entity->listed != JOIN_NONE && join->symbols[entity->listed].alignment)
        return join->symbols[entity->listed].alignment;
    if (alignment == 0 || alignment > section_alignment)
        alignment = section_alignment;
    return alignment < USUAL_ALIGNMENT ? USUAL_ALIGNMENT : alignment;
}

/* Appends a block to a section's blocks, which have room for it. */
static struct join_block *append_block(struct join_section *section, uint64_t offset, uint64_t size)
{
    struct join_block *block = &section->blocks[section->block_count++];

    *block =
        (struct join_block){.section = section, .offset = offset, .size = size, .alignment = 1};
    return block;
}

/* Takes an object into a block. Objects whose definition is kept decide whether the block is kept,
 * and its place in the order. */
static void add_object_to_block(const struct join *join, struct join_block *block,
                                const struct object *object)
{
    const struct join_section *section = block->section;
    const struct join_entity *entity = section->input->entities[object->symbol];
    uint64_t order =
        entity->listed != JOIN_NONE ? entity->listed : UINT64_C(1) << 32 | entity->user;

    RAISE(block->size, object->offset + object->size - block->offset);
    if (!join_is_first(section->input, object->symbol) || join_is_dropped(entity))
        return;
    if (!block->is_kept || order < block->order)
        block->order = order;
    block->is_kept = true;
    RAISE(block->alignment,
          object_alignment(join, entity, object->offset, section->source->alignment));
}

/* True if the bytes between blocks are padding. */
static bool gaps_are_zero(struct bytes data, const struct join_block *blocks, size_t count)
{
    uint64_t at = 0;

    for (size_t i = 0; i <= count; i++) {
        uint64_t end = i < count ? blocks[i].offset : data.size;

        for (; at < end && at < data.size; at++)
            if (data.data[at])
                return false;
        if (i < count)
            at = blocks[i].offset + blocks[i].size;
    }
    return true;
}

static bool cut_objects(struct join *join, struct join_section *section)
{
    size_t count;
    struct object *objects = find_objects(join, section, &count);
    struct join_block *block = NULL;

    section->blocks = arena_alloc(&join->arena, count, sizeof *section->blocks);
    for (size_t i = 0; i < count; i++) {
        bool overlaps = block && (objects[i].offset < block->offset + block->size ||
                                  objects[i].offset == block->offset);

        if (!overlaps) {
            block = append_block(section, objects[i].offset, 0);
            block->symbol = objects[i].symbol;
        }
        add_object_to_block(join, block, &objects[i]);
    }
    return section->source->has_no_bytes ||
           gaps_are_zero(section->source->data, section->blocks, section->block_count);
}

/* All 64-bit fields of the section that hold a symbol's address, by offset. */
static struct object *find_fields(struct join *join, const struct join_section *section,
                                  size_t *count)
{
    struct object *fields = NULL;
    size_t capacity = 0;

    *count = 0;
    for (const struct join_section *s = section->first_relocations; s; s = s->next_relocations)
        for (size_t k = 0; k < s->relocation_count; k++) {
            const struct cubin_relocation *r = &s->relocations[k];

            if (r->type == R_CUDA_64 || r->type == R_MERCURY_64 || r->type == R_MERCURY_FUNC64)
                ARENA_PUSH(&join->arena, fields, *count, capacity) =
                    (struct object){r->offset, sizeof(uint64_t), r->symbol};
        }
    SORT(fields, *count, compare_objects);
    return fields;
}

/* Gives a block the function whose address `field` holds. */
static bool name_block(struct join_block *block, const struct object *field)
{
    const struct join_input *input = block->section->input;
    const struct join_section *text = join_section_of(input, field->symbol);

    if (!text || input->cubin->symbols[field->symbol].type != STT_FUNC)
        return false;
    block->is_kept = text->function != JOIN_NONE;
    block->order = text->function;
    return true;
}

/* Moves *at past a CIE with its FDE, or a unit of 32-bit DWARF: a length, then that many bytes. */
static bool next_unit(struct bytes data, size_t *at, bool is_frame)
{
    struct frame frame;
    struct bytes unit;

    if (is_frame)
        return frames_next(data, at, &frame);
    if (!bytes_slice(data, *at, sizeof(uint32_t), &unit) ||
        !bytes_slice(data, *at, sizeof(uint32_t) + (uint64_t)little_u32(unit.data), &unit))
        return false;
    *at += unit.size;
    return true;
}

/* Cuts frames, or a line table, into units of one function each: that whose address is the last in
 * it (an FDE's stands behind the reference to its CIE, and a unit of lines has one). */
static bool cut_debug_units(struct join *join, struct join_section *section)
{
    struct bytes data = section->source->data;
    size_t count, next = 0;
    struct object *fields = find_fields(join, section, &count);

    section->blocks = arena_alloc(&join->arena, count, sizeof *section->blocks);
    for (size_t at = 0, begin = 0; at < data.size; begin = at) {
        size_t first = next;

        if (!next_unit(data, &at, section->united->is_frames))
            return false;
        while (next < count && fields[next].offset < at)
            next++;
        if (next == first || (!section->united->is_frames && next > first + 1) ||
            !name_block(append_block(section, begin, at - begin), &fields[next - 1]))
            return false;
    }
    return next == count;
}

/* Cuts the section into blocks. False if there are bytes other than padding outside of them. */
static bool cut_blocks(struct join *join, struct join_section *section)
{
    const struct cubin_section *source = section->source;

    if (source->type == SHT_CUDA_GLOBAL || source->type == SHT_CUDA_GLOBAL_INIT ||
        format_is_constant(source->type))
        return cut_objects(join, section);
    return (section->united->is_frames || cubin_is_kind(source, KIND_LINES)) &&
           cut_debug_units(join, section);
}

const struct join_block *join_blocks_at(const struct join_section *section, uint64_t offset)
{
    bool is_twin = section->united && section->united->way == UNITED_TWIN && section->plain;
    const struct join_section *placed = is_twin ? section->plain : section;
    const struct join_block *blocks = placed->blocks;
    size_t low = SEARCH_FIRST_NOT(placed->block_count, at, blocks[at].offset <= offset);

    /* An object's end belongs to it: code may form the address past an array. */
    if (low == 0 || offset - blocks[low - 1].offset > blocks[low - 1].size)
        return NULL;
    return &blocks[low - 1];
}

uint64_t join_blocks_translate(const struct join_section *section, uint64_t offset)
{
    const struct join_block *block = join_blocks_at(section, offset);

    if (!block)
        return offset;
    if (block->is_kept)
        return block->placed + (offset - block->offset);
    if (block->symbol == 0)
        return 0;
    return section->input->entities[block->symbol]->value +
           (offset - section->input->cubin->symbols[block->symbol].value);
}

int64_t join_addend(const struct join_section *list, const struct cubin_relocation *relocation)
{
    const uint8_t *field;

    if (list->source->type != SHT_REL)
        return relocation->addend;
    field = list->target->source->data.data + relocation->offset;
    if (relocation->type == R_CUDA_64)
        return (int64_t)little_u64(field);
    return relocation->type == R_CUDA_32 ? little_u32(field) : 0;
}

/* Classes of sections that belong to no function, and those of them that are made anew. */
#define CLASSES_ANEW                                                                               \
    (CLASS_SET(NOTE) | CLASS_SET(INFO) | CLASS_SET(COMPAT) | CLASS_SET(CALLGRAPH) |                \
     CLASS_SET(PROTOTYPE) | CLASS_SET(TWIN_INFO))
#define CLASSES_UNITED                                                                             \
    (CLASS_SET(DEBUG) | CLASS_SET(OTHER) | CLASS_SET(CONSTANT) | CLASS_SET(FUNCTION_CONSTANT) |    \
     CLASS_SET(GLOBAL_INIT) | CLASS_SET(SHARED) | CLASS_SET(DEBUG_SHARED) | CLASS_SET(RESERVED) |  \
     CLASS_SET(GLOBAL) | CLASSES_ANEW)
#define MERCURY_UNITED                                                                             \
    (CLASS_SET(TWIN_DEBUG) | CLASS_SET(TWIN_OTHER) | CLASS_SET(TWIN_CONSTANT) |                    \
     CLASS_SET(TWIN_GLOBAL_INIT) | CLASS_SET(TWIN_RESERVED))

static enum united_way way_of(const struct join *join, const struct join_section *section)
{
    uint32_t type = section->source->type;

    if (class_is_in(section->class, CLASSES_ANEW))
        return UNITED_ANEW;
    if (join_is_mercury_data(section->source))
        return UNITED_TWIN;
    if (type == SHT_CUDA_SHARED)
        return UNITED_SIZES;
    return join->keeps_data && (type == SHT_CUDA_GLOBAL || type == SHT_CUDA_GLOBAL_INIT ||
                                type == SHT_CUDA_CONSTANT0 + 3)
               ? UNITED_WHOLE
               : UNITED_BLOCKS;
}

static struct united_section *united_for(struct join *join, struct table *names,
                                         const struct join_section *section)
{
    const struct cubin_section *source = section->source;
    bool is_apart = unknown_is(source) && !unknown_is_joinable(source); /* the merge judges them */
    const char *key =
        arena_printf(&join->arena, "%td %x %.*s", is_apart ? section->input - join->inputs : 0,
                     source->type, TEXT_ARG(source->name));
    uint32_t index = table_add(names, text_of(key), (uint32_t)join->united_count);
    struct united_section *united;

    if (index < join->united_count) {
        united = join->united[index];
    } else {
        united = arena_alloc(&join->arena, 1, sizeof *united);
        *united = (struct united_section){.first = section,
                                          .alignment = 1,
                                          .way = way_of(join, section),
                                          .is_frames = cubin_is_kind(source, KIND_FRAMES)};
        ARENA_PUSH(&join->arena, join->united, join->united_count, join->united_capacity) = united;
    }
    RAISE(united->alignment, source->alignment);
    return united;
}

static bool is_inside(const struct join_section *section, const struct cubin_relocation *relocation)
{
    const struct join_block *block = join_blocks_at(section, relocation->offset);

    return block &&
           relocation->offset - block->offset + relocation_types_find(relocation->type)->bytes <=
               block->size;
}

/* Makes a section whole if the relocation's field is outside of its blocks, or a reference against
 * its symbol hits none. */
static void check_relocation(const struct join_section *list,
                             const struct cubin_relocation *relocation)
{
    const struct join_section *seen = join_seen_section(list, relocation->symbol);
    struct united_section *united = list->target ? list->target->united : NULL;
    int64_t addend;

    if (united) {
        united->has_in_place |= list->source->type == SHT_REL;
        if (united->way == UNITED_BLOCKS && !is_inside(list->target, relocation))
            united->way = UNITED_WHOLE;
    }
    if (list->input->cubin->symbols[relocation->symbol].type != STT_SECTION || !seen ||
        !seen->united)
        return;
    if (seen->united->way == UNITED_TWIN)
        seen = seen->plain;
    if (!seen || !seen->united || seen->united->way != UNITED_BLOCKS)
        return;
    if (seen->united->is_frames && list->target == seen)
        return; /* an FDE's reference to its CIE is made anew */
    addend = join_addend(list, relocation);
    if (addend < 0 || !join_blocks_at(seen, (uint64_t)addend))
        seen->united->way = UNITED_WHOLE;
}

static void gather_blocks(struct join *join, struct join_section *section)
{
    struct united_section *united = section->united;

    if (united->way == UNITED_WHOLE) {
        struct join_block whole = {.section = section,
                                   .size = section->source->size,
                                   .alignment = section->source->alignment,
                                   .is_kept = true};

        section->blocks = arena_copy(&join->arena, &whole, 1, sizeof whole);
        section->block_count = 1;
    }
    for (size_t i = 0; i < section->block_count; i++)
        if (section->blocks[i].is_kept)
            ARENA_PUSH(&join->arena, united->blocks, united->block_count, united->block_capacity) =
                &section->blocks[i];
}

COMPARISON(compare_blocks, struct join_block *,
           COMPARE((*a)->order, (*b)->order)
               ?: COMPARE((*a)->section->input, (*b)->section->input)
               ?: COMPARE((*a)->offset, (*b)->offset) ?: COMPARE((*a)->section, (*b)->section));

/* Places the blocks of one united section and copies their bytes. */
static void place_blocks(struct join *join, struct united_section *united)
{
    SORT(united->blocks, united->block_count, compare_blocks);
    for (size_t i = 0; i < united->block_count; i++) {
        struct join_block *block = united->blocks[i];

        block->placed = image_align_up(united->size, block->alignment);
        united->size = block->placed + block->size;
        RAISE(united->alignment, block->alignment);
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
static void place_objects(struct join_section *section)
{
    const struct join_input *input = section->input;

    for (uint32_t i = section->first_object; i; i = input->next_object[i]) {
        if (!join_is_first(input, i))
            continue;
        if (section->united->way == UNITED_SIZES)
            section->united->size += input->entities[i]->size;
        else
            input->entities[i]->value = join_blocks_translate(section, input->entities[i]->value);
    }
}

void join_unite_sections(struct join *join)
{
    uint64_t classes = CLASSES_UNITED | (join->has_mercury ? MERCURY_UNITED : 0);
    LOCAL_TABLE(names);

    for (size_t i = 0; i < join->section_count; i++) {
        struct join_section *section = &join->sections[i];

        if (!section->text && section->source->type != SHT_NULL &&
            class_is_in(section->class, classes))
            section->united = united_for(join, &names, section);
    }
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].united && join->sections[i].united->way == UNITED_BLOCKS &&
            !cut_blocks(join, &join->sections[i]))
            join->sections[i].united->way = UNITED_WHOLE;
    for (size_t i = 0; i < join->section_count; i++)
        for (size_t k = 0; k < join->sections[i].relocation_count; k++)
            check_relocation(&join->sections[i], &join->sections[i].relocations[k]);
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].united)
            gather_blocks(join, &join->sections[i]);
    for (size_t i = 0; i < join->united_count; i++)
        if (join->united[i]->way == UNITED_BLOCKS || join->united[i]->way == UNITED_WHOLE)
            place_blocks(join, join->united[i]);
    join_unite_mercury(join);
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].united)
            place_objects(&join->sections[i]);
}
