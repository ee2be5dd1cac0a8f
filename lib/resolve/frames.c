/* frames.c: leaves out frame descriptions of functions that are not in the output.
 *
 * Measured on nvlink: up to sm_90 the section is kept whole; from sm_100 on FDEs of dead and losing
 * functions are removed with their CIEs, and the others point to the CIE before them, regardless of
 * ptxas's addend. */
#include "resolve/internal.h"

#include "cubin/contents.h"

/* A CIE and the FDEs after it that are kept. */
struct group {
    size_t start;
    size_t end;
    size_t placed;
};

struct pruning {
    struct merging *m;
    struct arena *scratch; /* of one file */
    size_t file;
    const struct cubin *cubin;
    size_t section;
    size_t list;         /* index of its relocation section */
    uint32_t *functions; /* by byte: the symbol whose address is there */
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

/* Finds groups of one CIE and one FDE; false if the section has another structure. */
static bool find_frame_groups(struct pruning *p)
{
    struct bytes data = p->cubin->sections[p->section].data;
    struct frame frame;

    p->groups = arena_alloc(p->scratch, data.size / FRAMES_LEAST + 1, sizeof *p->groups);
    for (size_t at = 0; at < data.size;) {
        if (!frames_next(data, &at, &frame))
            return false;
        if (!stays(p, p->functions[frame.fde + FRAMES_ADDRESS]))
            continue;
        p->groups[p->count++] = (struct group){frame.begin, frame.end, p->size};
        p->size += frame.end - frame.begin;
    }
    return true;
}

static const struct group *group_at(const struct pruning *p, uint64_t offset)
{
    size_t low = SEARCH_FIRST_NOT(p->count, i, p->groups[i].end <= offset);

    return low < p->count && p->groups[low].start <= offset ? &p->groups[low] : NULL;
}

static void copy_contents(const struct pruning *p, struct cubin_section *section)
{
    uint8_t *copy;

    if (p->size == section->data.size) /* all stay */
        return;
    copy = arena_alloc(&p->m->image->arena, p->size, 1);
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
    copy->sections = arena_copy(&p->m->arena, p->cubin->sections, count, sizeof *copy->sections);
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
            cubin_is_kind(&cubin->sections[section->info], KIND_FRAMES)) {
            p->list = i;
            p->section = section->info;
        }
    }
    if (p->list == 0)
        return false;
    p->functions = arena_zalloc(p->scratch, cubin->sections[p->section].size, 4);
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
    LOCAL_ARENA(scratch);

    if (!merging_is_mercury(m))
        return m->cubins;
    cubins = arena_alloc(&m->arena, m->count, sizeof *cubins);
    for (size_t file = 0; file < m->count; file++) {
        struct pruning p = {.m = m, .scratch = &scratch, .file = file, .cubin = m->cubins[file]};

        cubins[file] = find_frames(&p) && find_frame_groups(&p) ? pruned(&p) : p.cubin;
        arena_free(&scratch);
    }
    return cubins;
}
