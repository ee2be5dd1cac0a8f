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

/* What a cubin had. To copy its table of sections would take a tenth of a merge's memory. */
struct pruned {
    const struct pruned *earlier;
    struct cubin_section *frames, *list;
    struct cubin_section old_frames, old_list;
};

struct pruning {
    struct merging *m;
    struct arena *scratch; /* of one file */
    size_t file;
    const struct cubin *cubin;
    struct cubin_section *frames;
    struct cubin_section *list; /* its relocations */
    uint32_t *functions;        /* by byte: the symbol whose address is there */
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
    struct bytes data = p->frames->data;
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

static void replace_contents(const struct pruning *p)
{
    uint8_t *copy;

    if (p->size == p->frames->size) /* all stay */
        return;
    copy = arena_alloc(&p->m->image->arena, p->size, 1);
    for (size_t i = 0; i < p->count; i++)
        memcpy(copy + p->groups[i].placed, p->frames->data.data + p->groups[i].start,
               p->groups[i].end - p->groups[i].start);
    p->frames->data = (struct bytes){copy, p->size};
    p->frames->size = p->size;
}

static void replace_relocations(const struct pruning *p)
{
    struct cubin_relocation *copy =
        arena_alloc(&p->m->arena, p->list->relocation_count, sizeof *copy);
    uint32_t count = 0;

    for (size_t i = 0; i < p->list->relocation_count; i++) {
        struct cubin_relocation relocation = p->list->relocations[i];
        const struct group *group = group_at(p, relocation.offset);

        if (!group)
            continue;
        relocation.offset -= group->start - group->placed;
        if (p->cubin->symbols[relocation.symbol].section == p->list->info)
            relocation.addend = (int64_t)group->placed;
        copy[count++] = relocation;
    }
    p->list->relocations = copy;
    p->list->relocation_count = count;
}

/* Finds the section, its relocations, and the functions that they name. */
static bool find_frames(struct pruning *p)
{
    for (size_t i = 1; i < p->cubin->section_count && !p->list; i++) {
        struct cubin_section *list = &p->cubin->sections[i];

        if (list->type == SHT_RELA && list->relocation_count > 0 &&
            cubin_is_kind(&p->cubin->sections[list->info], KIND_FRAMES))
            p->list = list;
    }
    if (!p->list)
        return false;
    p->frames = &p->cubin->sections[p->list->info];
    p->functions = arena_zalloc(p->scratch, p->frames->size, 4);
    for (size_t i = 0; i < p->list->relocation_count; i++)
        if (p->list->relocations[i].type == R_CUDA_64)
            p->functions[p->list->relocations[i].offset] = p->list->relocations[i].symbol;
    return true;
}

void frames_prune(struct merging *m)
{
    LOCAL_ARENA(scratch);

    for (size_t file = 0; merging_is_mercury(m) && file < m->count; file++) {
        struct pruning p = {.m = m, .scratch = &scratch, .file = file, .cubin = m->cubins[file]};
        struct pruned *pruned;

        if (find_frames(&p) && find_frame_groups(&p)) {
            pruned = arena_alloc(&m->arena, 1, sizeof *pruned);
            *pruned = (struct pruned){m->pruned, p.frames, p.list, *p.frames, *p.list};
            m->pruned = pruned;
            replace_contents(&p);
            replace_relocations(&p);
        }
        arena_free(&scratch);
    }
}

void frames_restore(void *merging)
{
    for (const struct pruned *at = ((struct merging *)merging)->pruned; at; at = at->earlier) {
        *at->frames = at->old_frames;
        *at->list = at->old_list;
    }
}
