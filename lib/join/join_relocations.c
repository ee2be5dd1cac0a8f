/* join_relocations.c: relocations of the joined cubin.
 *
 * Relocations of a function's own sections keep their order; those of united sections are sorted
 * like the assembler's, by descending offset. */
#include "join/join_plan.h"

#include "base/search.h"

/* The relocation's addend in the joined cubin. */
static int64_t moved_addend(const struct join *join, const struct join_section *list,
                            uint32_t symbol, int64_t addend)
{
    const struct join_section *seen = join_seen_section(list, symbol);

    if (list->input->cubin->symbols[symbol].type != STT_SECTION || !seen || !seen->united ||
        seen->united->is_shared)
        return addend;
    return (int64_t)join_blocks_translate(join, seen, (uint64_t)addend);
}

/* The addend of a relocation against a section symbol. Measured: ptxas makes the n-th FDE refer to
 * a CIE at byte 112 * n, wherever its CIE is; here each FDE refers to the CIE before it. */
static int64_t section_addend(const struct join *join, const struct join_section *list,
                              const struct cubin_relocation *relocation,
                              const struct join_block *block)
{
    const struct united_section *united = list->target->united;

    if (united->is_frames && !united->is_whole &&
        join_seen_section(list, relocation->symbol) == list->target)
        return (int64_t)block->placed;
    return moved_addend(join, list, relocation->symbol, join_addend(list, relocation));
}

/* Notes one relocation of a united section. If it is against a section symbol, its addend is taken
 * out of the field: before sm_90 the assembler writes REL for an addend of 0 and RELA for others
 * (measured). */
static void gather_relocation(struct join *join, const struct join_section *list,
                              const struct cubin_relocation *relocation)
{
    struct united_section *united = list->target->united;
    const struct join_block *block = join_blocks_at(list->target, relocation->offset);
    struct join_relocation moved = {*relocation, list->cubin, list->source->type == SHT_REL};

    if (!block || !block->is_kept)
        return;
    moved.moved.offset = block->placed + (relocation->offset - block->offset);
    if (list->input->cubin->symbols[relocation->symbol].type == STT_SECTION) {
        moved.moved.addend = section_addend(join, list, relocation, block);
        if (moved.is_in_place && united->data)
            memset(united->data + moved.moved.offset, 0, format_relocation_size(relocation->type));
        moved.is_in_place = united->has_in_place && moved.moved.addend == 0;
    }
    ARENA_PUSH(&join->arena, united->relocations, united->relocation_count,
               united->relocation_capacity) = moved;
    united->in_place_count += moved.is_in_place;
}

static int compare_relocations(const void *a, const void *b)
{
    const struct join_relocation *x = a, *y = b;

    if (x->is_in_place != y->is_in_place)
        return x->is_in_place ? -1 : 1;
    return COMPARE(y->moved.offset, x->moved.offset) ?:
           COMPARE(x->moved.type, y->moved.type) ?:
           COMPARE(x->moved.symbol, y->moved.symbol);
}

void join_gather_relocations(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *list = &join->sections[i];

        for (size_t k = 0; list->target && list->target->united && k < list->relocation_count; k++)
            gather_relocation(join, list, &list->relocations[k]);
    }
    for (size_t i = 0; i < join->united_count; i++)
        SORT(join->united[i]->relocations, join->united[i]->relocation_count, compare_relocations);
}

/* Gives relocations to a joined section. Mercury's are encoded as bytes, since readers expect them
 * so. */
static void set_relocations(struct join *join, struct cubin_section *section,
                            struct cubin_relocation *list, size_t count)
{
    Elf64_Rela *records;

    section->size = count * section->entry_size;
    if (section->type != SHT_CUDA_MERC_RELA) {
        section->relocations = list;
        section->relocation_count = count;
        return;
    }
    records = arena_alloc(&join->out->arena, count, sizeof *records);
    for (size_t i = 0; i < count; i++)
        records[i] = (Elf64_Rela){.r_offset = list[i].offset,
                                  .r_info = ELF64_R_INFO((uint64_t)list[i].symbol, list[i].type),
                                  .r_addend = list[i].addend};
    section->data = (struct bytes){(const uint8_t *)records, section->size};
}

/* Copies a function's relocations, with renumbered symbols. */
static void fill_function_relocations(struct join *join, struct cubin_section *section,
                                      const struct join_section *list)
{
    struct cubin_relocation *to =
        arena_alloc(&join->out->arena, list->relocation_count, sizeof *to);
    size_t count = 0;

    for (size_t i = 0; i < list->relocation_count; i++) {
        struct cubin_relocation r = list->relocations[i];

        if (r.symbol != 0) {
            r.addend = moved_addend(join, list, r.symbol, r.addend);
            r.symbol = join_symbol_of(join, list->cubin, r.symbol);
            if (r.symbol == 0)
                continue;
        }
        to[count++] = r;
    }
    set_relocations(join, section, to, count);
}

static void fill_united_relocations(struct join *join, struct cubin_section *section,
                                    const struct united_section *united)
{
    size_t begin = section->type == SHT_REL ? 0 : united->in_place_count;
    size_t end = section->type == SHT_REL ? united->in_place_count : united->relocation_count;
    struct cubin_relocation *to = arena_alloc(&join->out->arena, end - begin, sizeof *to);
    size_t count = 0;

    for (size_t i = begin; i < end; i++) {
        struct cubin_relocation r = united->relocations[i].moved;

        r.symbol = join_symbol_of(join, united->relocations[i].cubin, r.symbol);
        if (section->type == SHT_REL)
            r.addend = 0;
        if (r.symbol)
            to[count++] = r;
    }
    set_relocations(join, section, to, count);
}

void join_fill_relocations(struct join *join)
{
    for (size_t i = 1; i < join->out->section_count; i++) {
        struct cubin_section *section = &join->out->sections[i];

        if (section->type != SHT_REL && section->type != SHT_RELA &&
            section->type != SHT_CUDA_MERC_RELA)
            continue;
        if (join->origins[i].united)
            fill_united_relocations(join, section, join->origins[i].united);
        else
            fill_function_relocations(join, section, join->origins[i].section);
    }
}
