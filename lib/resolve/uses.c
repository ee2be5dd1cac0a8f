/* uses.c: which shared variables, which references to textures, samplers and surfaces, and which
 * compiler constants the code of functions names. */
#include "resolve/resolve_steps.h"

/* Names of shared variables in a losing copy do not count. */
static void gather_named(struct merging *m, struct merged_pairs *uses, size_t file,
                         const struct cubin_section *list)
{
    uint32_t function;
    bool is_kept;

    if (!cubin_is_text(&m->cubins[file]->sections[list->info]))
        return;
    function = merging_owner(m, file, list->info);
    is_kept = merging_keeps(m, file, list->info);
    for (size_t i = 0; i < list->relocation_count; i++) {
        uint32_t symbol = merging_symbol(m, file, list->relocations[i].symbol);

        if (symbol == MERGE_NONE)
            continue;
        if (format_is_reference(m->symbols[symbol].type)) {
            m->uses.names_reference = true;
            if (is_kept)
                m->functions[function].flags |= REACHES_TEXTURE;
        } else if (merged_is_data(&m->symbols[symbol], STO_CUDA_SHARED) &&
                   m->symbols[function].file == file) {
            m->uses.is_shared_named[symbol] = true;
            if (is_kept)
                index_lists_add(uses, function, symbol);
        }
    }
}

/* A kernel's variables take room even if its code does not name them, and so do those of its losing
 * copies (measured). */
static void gather_own(struct merging *m, struct merged_pairs *uses)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];
        uint32_t owner =
            merged_is_data(symbol, STO_CUDA_SHARED) ? merging_holder(m, symbol) : MERGE_NONE;

        if (owner != MERGE_NONE &&
            (m->symbols[owner].file == symbol->file || merged_is_kernel(&m->symbols[owner])))
            index_lists_add(uses, owner, i);
    }
}

static void gather_shared(struct merging *m)
{
    struct merged_pairs uses = {.arena = &m->arena};

    m->uses.is_shared_named = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);)
        gather_named(m, &uses, at.file, at.section);
    gather_own(m, &uses);
    for (size_t i = 0; i < uses.count; i++)
        m->functions[uses.items[i].from].flags |= REACHES_SHARED;
    m->uses.shared = index_lists_make_distinct(&m->arena, &uses, m->symbol_count, m->symbol_count);
}

void uses_gather(struct merging *m)
{
    static const uint8_t types[] = {STT_CUDA_SURFACE, STT_CUDA_SAMPLER, STT_CUDA_TEXTURE};
    struct uses *uses = &m->uses;

    gather_shared(m);
    uses->references = arena_alloc(&m->arena, m->symbol_count, sizeof *uses->references);
    for (size_t kind = 0; kind < sizeof types; kind++)
        for (uint32_t i = 0; i < m->symbol_count; i++)
            if (m->symbols[i].type == types[kind])
                uses->references[uses->reference_count++] = i;
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_CONSTANT);) {
        uint32_t owner = merging_owner(m, at.file, at.index);

        if (owner != MERGE_NONE && merging_keeps(m, at.file, at.index) &&
            at.section->type == SHT_CUDA_CONSTANT0 + CONSTANTS_BANK)
            m->functions[owner].flags |= REACHES_CONSTANTS;
    }
}
