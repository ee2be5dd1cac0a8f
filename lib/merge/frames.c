/* frames.c: leaves out frame descriptions of functions that are not in the output.
 *
 * .debug_frame is a row of entries, in 64-bit DWARF: u32 0xffffffff, u64 length of what follows,
 * u64 that is all ones in a common entry (CIE) and else, in one function's (FDE), the place of its
 * CIE; behind it stands the function's address. ptxas writes a CIE before every FDE. Measured on
 * nvlink 13.0: up to sm_90 the section is kept whole; from sm_100 on FDEs of dead and losing
 * functions are gone, with their CIEs, and the others point to the CIE before them, whatever
 * ptxas's addend says.
 */
#include "merge/frames.h"

#include <string.h>

#include "base/memory.h"
#include "merge/merging_inputs.h"

#define HEAD_SIZE   20u /* escape, length, and place of the CIE */
#define CIE_POINTER 12u
#define FDE_ADDRESS 20u

/* A CIE, and the FDEs behind it that stay. */
struct group {
    size_t start;
    size_t end;
    size_t placed;
};

struct pruning {
    struct merging *m;
    size_t file;
    const struct cubin *cubin;
    size_t section;
    size_t list;         /* its relocations */
    uint32_t *functions; /* by byte: symbol whose address is there */
    struct group *groups;
    size_t count;
    size_t size;
};

static bool stays(const struct pruning *p, uint32_t index)
{
    uint32_t symbol = index ? merging_symbol(p->m, p->file, index) : MERGE_NONE;
    const struct merged_symbol *merged;

    if (symbol == MERGE_NONE)
        return true;
    symbol = merging_canonical(p->m, symbol);
    merged = &p->m->symbols[symbol];
    return merged->type != STT_FUNC || (p->m->is_live[symbol] && merged->file >= p->file);
}

/* The bytes of the entry at `at`, or 0. */
static size_t entry_size(struct bytes data, size_t at)
{
    uint32_t escape;
    uint64_t length;

    if (data.size - at < HEAD_SIZE)
        return 0;
    memcpy(&escape, data.data + at, sizeof escape);
    memcpy(&length, data.data + at + 4, sizeof length);
    if (escape != UINT32_MAX || length < 8 || length > data.size - at - 12)
        return 0;
    return (size_t)length + 12;
}

static bool is_common(struct bytes data, size_t at)
{
    uint64_t id;

    memcpy(&id, data.data + at + CIE_POINTER, sizeof id);
    return id == UINT64_MAX;
}

/* Groups of one CIE and one FDE; false when the section is made in another way. */
static bool find_groups(struct pruning *p)
{
    struct bytes data = p->cubin->sections[p->section].data;

    p->groups = arena_alloc(&p->m->arena, data.size / HEAD_SIZE + 1, sizeof *p->groups);
    for (size_t at = 0; at < data.size;) {
        size_t common = entry_size(data, at);
        size_t frame = common && common < data.size - at ? entry_size(data, at + common) : 0;

        if (frame < FDE_ADDRESS + 8 || !is_common(data, at) || is_common(data, at + common))
            return false;
        if (stays(p, p->functions[at + common + FDE_ADDRESS])) {
            p->groups[p->count++] = (struct group){at, at + common + frame, p->size};
            p->size += common + frame;
        }
        at += common + frame;
    }
    return true;
}

static const struct group *group_at(const struct pruning *p, uint64_t offset)
{
    size_t low = 0;
    size_t high = p->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->groups[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->count && p->groups[low].start <= offset ? &p->groups[low] : NULL;
}

static void copy_contents(const struct pruning *p, struct cubin_section *section)
{
    uint8_t *copy = arena_alloc(&p->m->image->arena, p->size, 1);

    for (size_t i = 0; i < p->count; i++)
        memcpy(copy + p->groups[i].placed, section->data.data + p->groups[i].start,
               p->groups[i].end - p->groups[i].start);
    section->data = (struct bytes){copy, p->size};
    section->size = p->size;
}

static void copy_relocations(const struct pruning *p, struct cubin_section *list)
{
    struct cubin_relocation *copy = arena_alloc(&p->m->arena, list->relocation_count, sizeof *copy);
    size_t count = 0;

    for (size_t i = 0; i < list->relocation_count; i++) {
        struct cubin_relocation relocation = list->relocations[i];
        const struct group *group = group_at(p, relocation.offset);

        if (!group)
            continue;
        relocation.offset -= group->start - group->placed;
        if (p->cubin->symbols[relocation.symbol].section == p->section)
            relocation.addend = (int64_t)group->placed;
        copy[count++] = relocation;
    }
    list->relocations = copy;
    list->relocation_count = count;
}

static const struct cubin *pruned(const struct pruning *p)
{
    struct cubin *copy = arena_alloc(&p->m->arena, 1, sizeof *copy);
    size_t count = p->cubin->section_count;

    *copy = *p->cubin;
    copy->sections = arena_alloc(&p->m->arena, count, sizeof *copy->sections);
    memcpy(copy->sections, p->cubin->sections, count * sizeof *copy->sections);
    copy_contents(p, &copy->sections[p->section]);
    copy_relocations(p, &copy->sections[p->list]);
    return copy;
}

/* Finds the section, its relocations, and the functions that they name. */
static bool find_frames(struct pruning *p)
{
    const struct cubin *cubin = p->cubin;

    for (size_t i = 1; i < cubin->section_count && p->list == 0; i++) {
        const struct cubin_section *section = &cubin->sections[i];

        if (section->type == SHT_RELA && section->relocation_count > 0 &&
            text_equal(cubin->sections[section->info].name, TEXT(".debug_frame")) &&
            cubin->sections[section->info].type == SHT_PROGBITS) {
            p->list = i;
            p->section = section->info;
        }
    }
    if (p->list == 0)
        return false;
    p->functions = arena_zalloc(&p->m->arena, cubin->sections[p->section].size, 4);
    for (size_t i = 0; i < cubin->sections[p->list].relocation_count; i++) {
        const struct cubin_relocation *relocation = &cubin->sections[p->list].relocations[i];

        if (relocation->type == R_CUDA_64)
            p->functions[relocation->offset] = relocation->symbol;
    }
    return true;
}

const struct cubin *const *frames_prune(struct merging *m)
{
    const struct cubin **cubins;

    if (!merging_is_mercury(m))
        return m->cubins;
    cubins = arena_alloc(&m->arena, m->count, sizeof *cubins);
    for (size_t file = 0; file < m->count; file++) {
        struct pruning p = {.m = m, .file = file, .cubin = m->cubins[file]};

        cubins[file] = find_frames(&p) && find_groups(&p) ? pruned(&p) : m->cubins[file];
    }
    return cubins;
}
