/* constants.c: bank 2 is loaded kernel by kernel, so that what a device function has there must
 * stand in the section of every kernel that reaches it.
 *
 * Its code can name one offset only. Measured on nvlink 13.0: a kernel's own constants stay in
 * front; the functions follow, the one read last first, each behind the longest that any of its
 * kernels has so far, whatever the others have there. A function that no kernel reaches loses its
 * constants. Those of copies that lost (overridden.h) stand behind its own; where the copy that
 * counts has none, they stay in a section of the function's. */
#include "merge/merge_steps.h"

#include "diag/diag.h"

#define BANK_BYTES 0x10000u

struct planner {
    struct merging *m;
    uint32_t *blocks; /* sections of device functions, reading order */
    size_t block_count;
    uint32_t *block_of;             /* by symbol: its block's number, or MERGE_NONE */
    uint32_t *section_of;           /* by symbol: a kernel's section, or MERGE_NONE */
    uint64_t *offset;               /* by block */
    uint64_t *end;                  /* by kernel */
    uint64_t *alignment;            /* by kernel */
    struct merged_lists kernels_of; /* by block */
};

void constants_gather(struct merging *m)
{
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_CONSTANT);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner != MERGE_NONE && merging_keeps(m, at.file, at.index) &&
            at.section->type == SHT_CUDA_CONSTANT0 + CONSTANTS_BANK)
            m->functions[owner].has_constants = true;
    }
}

/* Tells the kernels' sections from those that must move. */
static void find_blocks(struct planner *planner)
{
    struct merging *m = planner->m;

    planner->blocks = arena_alloc(&m->arena, m->section_count, sizeof(uint32_t));
    planner->block_of = merging_none(m, m->symbol_count);
    planner->section_of = merging_none(m, m->symbol_count);
    for (uint32_t i = 0; i < m->section_count; i++) {
        const struct merged_section *section = &m->sections[i];

        if (!merged_is_bank(section, CONSTANTS_BANK))
            continue;
        if (merged_is_kernel(&m->symbols[section->function])) {
            planner->section_of[section->function] = i;
        } else if (m->functions[section->function].has_constants) {
            planner->block_of[section->function] = (uint32_t)planner->block_count;
            planner->blocks[planner->block_count++] = i;
        }
    }
}

static void find_users(struct planner *planner)
{
    struct merging *m = planner->m;
    struct merged_pairs users = {.arena = &m->arena};

    for (uint32_t k = 0; k < m->layout.kernel_count; k++) {
        const uint32_t *found;
        size_t count = reach_walk(m, m->layout.kernels[k], REACHES_CONSTANTS, &found);

        for (size_t i = 0; i < count; i++)
            if (found[i] < m->symbol_count && planner->block_of[found[i]] != MERGE_NONE)
                index_lists_add(&users, planner->block_of[found[i]], k);
    }
    planner->kernels_of = index_lists_make(&m->arena, &users, planner->block_count);
    index_lists_distinct(&m->arena, &planner->kernels_of, NULL, planner->block_count,
                         m->layout.kernel_count);
}

/* Finds the block's offset, one for all its kernels. */
static uint64_t place_block(struct planner *planner, size_t block)
{
    const struct merged_section *section = &planner->m->sections[planner->blocks[block]];
    const struct merged_lists *users = &planner->kernels_of;
    uint64_t offset = 0;

    for (uint32_t i = users->first[block]; i < users->first[block + 1]; i++)
        if (planner->end[users->items[i]] > offset)
            offset = planner->end[users->items[i]];
    offset = merged_align(offset, section->alignment);
    for (uint32_t i = users->first[block]; i < users->first[block + 1]; i++) {
        uint32_t kernel = users->items[i];

        planner->end[kernel] = offset + section->size;
        if (section->alignment > planner->alignment[kernel])
            planner->alignment[kernel] = section->alignment;
    }
    return offset;
}

static void place_blocks(struct planner *planner)
{
    struct merging *m = planner->m;

    for (size_t k = 0; k < m->layout.kernel_count; k++) {
        uint32_t section = planner->section_of[m->layout.kernels[k]];

        planner->end[k] = section == MERGE_NONE ? 0 : m->sections[section].size;
        planner->alignment[k] = section == MERGE_NONE ? 1 : m->sections[section].alignment;
    }
    for (size_t block = planner->block_count; block-- > 0;)
        planner->offset[block] = place_block(planner, block);
}

static bool check_sizes(const struct planner *planner)
{
    const struct merging *m = planner->m;
    bool ok = true;

    for (size_t k = 0; k < m->layout.kernel_count; k++) {
        if (planner->end[k] <= BANK_BYTES)
            continue;
        diag_error("Entry function '%.*s' uses too much data for compiler-generated constants; "
                   "please recompile with -Xptxas --disable-optimizer-constants",
                   TEXT_ARG(m->symbols[m->layout.kernels[k]].name));
        ok = false;
    }
    return ok;
}

/* Makes the kernel's section as long as it is to be. */
static void grow_section(struct planner *planner, size_t k)
{
    struct merging *m = planner->m;
    uint32_t kernel = m->layout.kernels[k];
    struct merged_section *section;

    if (planner->section_of[kernel] == MERGE_NONE) {
        struct merged_section made = m->sections[planner->blocks[0]];

        made.name = text_of(arena_printf(&m->image->arena, ".nv.constant%u.%.*s", CONSTANTS_BANK,
                                         TEXT_ARG(m->symbols[kernel].name)));
        made.function = kernel;
        planner->section_of[kernel] = layout_add(m, &made);
    }
    section = &m->sections[planner->section_of[kernel]];
    section->size = planner->end[k];
    section->alignment = planner->alignment[k];
    section->own = arena_zalloc(&m->image->arena, section->size, 1);
    section->data = section->own;
}

static void note_copies(struct planner *planner)
{
    struct merging *m = planner->m;
    const struct merged_lists *users = &planner->kernels_of;

    m->constants = arena_alloc(&m->arena, users->first[planner->block_count], sizeof *m->constants);
    for (size_t block = 0; block < planner->block_count; block++) {
        m->sections[planner->blocks[block]].copies = (uint32_t)m->constant_count;
        for (uint32_t i = users->first[block]; i < users->first[block + 1]; i++)
            m->constants[m->constant_count++] = (struct merged_copy){
                .from = planner->blocks[block],
                .to = planner->section_of[m->layout.kernels[users->items[i]]],
                .offset = planner->offset[block],
            };
    }
}

/* The functions' sections are not written; only their contents are still wanted. */
static void give_up_blocks(struct planner *planner)
{
    struct merging *m = planner->m;

    for (size_t block = 0; block < planner->block_count; block++) {
        struct merged_section *section = &m->sections[planner->blocks[block]];

        section->class = CLASS_COUNT;
        section->own = arena_zalloc(&m->arena, section->size, 1);
        section->data = section->own;
    }
    for (struct merging_walk at = {0}; merging_next(m, &at);) {
        const struct cubin_section *input = at.section;
        const struct merged_place *where = merging_place(m, at.file, at.index);

        if (where->section != MERGE_NONE && m->sections[where->section].class == CLASS_COUNT &&
            input->size > 0)
            memcpy(m->sections[where->section].own + where->offset, input->data.data, input->size);
    }
}

static void move_symbols(struct planner *planner)
{
    struct merging *m = planner->m;

    for (size_t i = 0; i < m->symbol_count; i++) {
        struct placed_symbol *symbol = &m->placed[i];

        if (symbol->section != MERGE_NONE && m->sections[symbol->section].class == CLASS_COUNT)
            symbol->value +=
                planner->offset[planner->block_of[m->sections[symbol->section].function]];
    }
}

bool constants_layout(struct merging *m)
{
    struct planner planner = {.m = m};

    if (m->request->relocatable)
        return true;
    find_blocks(&planner);
    if (planner.block_count == 0)
        return true;
    planner.offset = arena_alloc(&m->arena, planner.block_count, sizeof *planner.offset);
    planner.end = arena_alloc(&m->arena, m->layout.kernel_count, sizeof *planner.end);
    planner.alignment = arena_alloc(&m->arena, m->layout.kernel_count, sizeof *planner.alignment);
    find_users(&planner);
    place_blocks(&planner);
    if (!check_sizes(&planner))
        return false;
    for (size_t k = 0; k < m->layout.kernel_count; k++) {
        uint32_t section = planner.section_of[m->layout.kernels[k]];

        if (planner.end[k] > (section == MERGE_NONE ? 0 : m->sections[section].size))
            grow_section(&planner, k);
    }
    note_copies(&planner);
    give_up_blocks(&planner);
    move_symbols(&planner);
    return true;
}

void constants_fill(struct merging *m)
{
    for (size_t i = 0; i < m->constant_count; i++) {
        const struct merged_copy *copy = &m->constants[i];
        const struct merged_section *from = &m->sections[copy->from];

        if (from->size > 0)
            memcpy(m->sections[copy->to].own + copy->offset, from->data, from->size);
    }
}
