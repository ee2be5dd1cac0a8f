/* join_relocations.c: relocations of the joined cubin.
 *
 * Those of a function's own sections keep their order; those of united sections are put into the
 * assembler's, by falling offset. */
#include "join/join_plan.h"

#include "base/search.h"

/* The addend as it counts in the joined cubin. */
static int64_t moved_addend(const struct join *join, uint32_t cubin, uint32_t section,
                            uint32_t symbol, int64_t addend)
{
    const struct join_input *input = &join->inputs[cubin];
    uint32_t seen = join_seen_section(join, cubin, section, symbol);
    uint32_t united;

    if (input->cubin->symbols[symbol].type != STT_SECTION || seen >= input->cubin->section_count)
        return addend;
    united = input->sections[seen].united;
    if (united == JOIN_NONE || join->united[united].is_shared)
        return addend;
    return (int64_t)join_blocks_translate(join, cubin, seen, (uint64_t)addend);
}

/* The addend of a relocation that counts from the begin of a section. Measured: ptxas gives the
 * n-th frame the CIE at byte 112 * n, wherever that is; here each refers to the one it stands
 * behind. */
static int64_t section_addend(const struct join *join, const struct united_section *united,
                              uint32_t cubin, uint32_t section,
                              const struct cubin_relocation *relocation,
                              const struct join_block *block)
{
    const struct cubin *c = join->inputs[cubin].cubin;

    if (united->is_frames && !united->is_whole &&
        join_seen_section(join, cubin, section, relocation->symbol) == c->sections[section].info)
        return (int64_t)block->placed;
    return moved_addend(join, cubin, section, relocation->symbol,
                        join_addend(c, section, relocation));
}

/* Notes one relocation of a united section. Where it counts from the begin of a section, its addend
 * leaves the field: before sm_90 the assembler writes REL for 0 and RELA for others (measured). */
static void gather_one(struct join *join, struct united_section *united, uint32_t cubin,
                       uint32_t section, const struct cubin_relocation *relocation)
{
    const struct cubin *c = join->inputs[cubin].cubin;
    uint32_t target = c->sections[section].info;
    const struct join_block *block = join_blocks_at(join, cubin, target, relocation->offset);
    bool is_in_place = c->sections[section].type == SHT_REL;
    int64_t addend = relocation->addend;
    uint64_t offset;

    if (!block || !block->is_kept)
        return;
    offset = block->placed + (relocation->offset - block->offset);
    if (c->symbols[relocation->symbol].type == STT_SECTION) {
        addend = section_addend(join, united, cubin, section, relocation, block);
        if (is_in_place && united->data)
            memset(united->data + offset, 0, format_relocation_size(relocation->type));
        is_in_place = united->has_in_place && addend == 0;
    }
    ARENA_PUSH(&join->arena, united->relocations, united->relocation_count,
               united->relocation_capacity) = (struct join_relocation){
        {offset, relocation->type, relocation->symbol, addend}, cubin, is_in_place};
    united->in_place_count += is_in_place;
}

static int by_kind_and_offset(const void *a, const void *b)
{
    const struct join_relocation *x = a;
    const struct join_relocation *y = b;

    if (x->is_in_place != y->is_in_place)
        return x->is_in_place ? -1 : 1;
    if (x->moved.offset != y->moved.offset)
        return x->moved.offset > y->moved.offset ? -1 : 1;
    if (x->moved.type != y->moved.type)
        return x->moved.type < y->moved.type ? -1 : 1;
    return (x->moved.symbol > y->moved.symbol) - (x->moved.symbol < y->moved.symbol);
}

/* The united section that relocation section `section` is for, or NULL. */
static struct united_section *target_of(const struct join *join, uint32_t cubin, uint32_t section)
{
    const struct join_input *input = &join->inputs[cubin];
    const struct cubin_section *s = &input->cubin->sections[section];
    uint32_t united;

    if (input->sections[section].relocation_count == 0 || s->info >= input->cubin->section_count)
        return NULL;
    united = input->sections[s->info].united;
    return united == JOIN_NONE ? NULL : &join->united[united];
}

void join_gather_relocations(struct join *join)
{
    for (uint32_t c = 0; c < join->count; c++)
        for (uint32_t i = 1; i < join->inputs[c].cubin->section_count; i++) {
            struct united_section *united = target_of(join, c, i);
            const struct join_input_section *list = &join->inputs[c].sections[i];

            for (size_t k = 0; united && k < list->relocation_count; k++)
                gather_one(join, united, c, i, &list->relocations[k]);
        }
    for (size_t i = 0; i < join->united_count; i++)
        SORT(join->united[i].relocations, join->united[i].relocation_count, by_kind_and_offset);
}

/* Hands relocations to a joined section; Mercury's stand in it as bytes, as they are read. */
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

/* Copies a function's relocations with their new symbols. */
static void fill_own(struct join *join, struct cubin_section *section,
                     const struct join_origin *origin)
{
    const struct join_input_section *source =
        &join->inputs[origin->cubin].sections[origin->section];
    struct cubin_relocation *to =
        arena_alloc(&join->out->arena, source->relocation_count, sizeof *to);
    size_t count = 0;

    for (size_t i = 0; i < source->relocation_count; i++) {
        struct cubin_relocation r = source->relocations[i];

        if (r.symbol != 0) {
            r.addend = moved_addend(join, origin->cubin, origin->section, r.symbol, r.addend);
            r.symbol = join_symbol_of(join, origin->cubin, r.symbol);
            if (r.symbol == 0)
                continue;
        }
        to[count++] = r;
    }
    set_relocations(join, section, to, count);
}

static void fill_united(struct join *join, struct cubin_section *section,
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
        if (join->origins[i].united != JOIN_NONE)
            fill_united(join, section, &join->united[join->origins[i].united]);
        else
            fill_own(join, section, &join->origins[i]);
    }
}
