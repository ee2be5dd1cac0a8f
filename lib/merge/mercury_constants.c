/* mercury_constants.c: what constants.c does, once more for the twins.
 *
 * Measured on nvlink 13.0: .nv.merc.nv.constant.optimizer.K is as long as .nv.constant2.K, and has
 * the contents and the relocations of each function's constants where .nv.constant2.K has them. */
#include "merge/mercury_constants.h"

#include <string.h>

#include "merge/layout.h"
#include "merge/twins.h"

/* Makes the twin of a kernel's section. */
static void add_twin(struct merging *m, uint32_t *twin_of, uint32_t section, uint32_t model)
{
    struct merged_section made = m->sections[model];
    struct text kernel = m->symbols[m->sections[section].function].name;

    made.name = text_of(
        arena_printf(&m->image->arena, ".nv.merc.nv.constant.optimizer.%.*s", TEXT_ARG(kernel)));
    made.function = m->sections[section].function;
    made.target = section;
    made.size = 0;
    made.data = made.own = NULL;
    twin_of[section] = layout_add(m, &made);
}

/* Makes the twin as long as the kernel's section. */
static void grow(struct merging *m, uint32_t section, struct merged_section *twin)
{
    uint64_t size = m->sections[section].size;
    uint8_t *own;

    if (twin->size >= size)
        return;
    own = arena_zalloc(&m->image->arena, size, 1);
    if (twin->size > 0)
        memcpy(own, twin->data, twin->size);
    twin->data = twin->own = own;
    twin->size = size;
    if (m->sections[section].alignment > twin->alignment)
        twin->alignment = m->sections[section].alignment;
}

static void copy(struct merging *m, uint32_t *twin_of, const struct merged_copy *constants)
{
    uint32_t from = twin_of[constants->from];
    const struct merged_section *source;

    if (from == MERGE_NONE)
        return;
    if (twin_of[constants->to] == MERGE_NONE)
        add_twin(m, twin_of, constants->to, from);
    grow(m, constants->to, &m->sections[twin_of[constants->to]]);
    source = &m->sections[from];
    if (source->size > 0 && constants->offset + source->size <= m->sections[constants->to].size)
        memcpy(layout_writable(m, twin_of[constants->to], &m->image->arena) + constants->offset,
               source->data, source->size);
}

const uint32_t *mercury_constants(struct merging *m, uint32_t *twin_of, size_t count)
{
    uint32_t *copies;

    for (size_t i = 0; i < m->constant_count; i++)
        copy(m, twin_of, &m->constants[i]);
    copies = arena_alloc(&m->arena, m->section_count, sizeof *copies);
    for (size_t i = 0; i < m->section_count; i++)
        copies[i] = (uint32_t)m->constant_count;
    for (size_t i = m->constant_count; i-- > 0;)
        if (twin_of[m->constants[i].from] != MERGE_NONE)
            copies[twin_of[m->constants[i].from]] = (uint32_t)i;
    for (size_t i = 0; i < count; i++) {
        if (m->sections[i].class != CLASS_COUNT || twin_of[i] == MERGE_NONE)
            continue;
        m->sections[twin_of[i]].class = CLASS_COUNT;
        twin_of[i] = MERGE_NONE;
    }
    return copies;
}
