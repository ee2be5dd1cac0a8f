/* texture.c: `.texref`, `.samplerref` and `.surfref` variables.
 *
 * The host binds such a variable at run time; no section holds any of it, so its symbol is
 * undefined in every cubin. (One that is a kernel's parameter has a local symbol at the kernel's
 * code.) Code reads the index of its header from a word in constant bank 0, which the linker makes
 * and the driver fills in. Since several kernels may reach a function, the words begin at the same
 * offset in all of them (minilink-cubin(5), merge rule 10).
 *
 * All rules were measured on nvlink, the order of the words on up to 12 of them, and those from
 * sm_100 on on nvlink 13.0 and 13.5. minilink deviates in two ways. Under -r nvlink drops the
 * references' relocations from the code, which then cannot be linked any more; here they are kept.
 * And nvlink treats parameters of one name in different kernels as one reference, which leaves the
 * word of all but the first kernel without a relocation; here each has its own. */
#include "merge/internal.h"

#include "diag/diag.h"

#define WORD_SIZE 4u

/* From sm_100 on the first word is at a multiple of: */
#define MERCURY_WORDS_ALIGNMENT 16u

/* The kinds of reference, in the order in which their words are sorted at first, from the last type
 * to the first. */
static const struct reference_kind {
    uint8_t type;
    uint32_t relocation;
    uint32_t mercury_relocation; /* from sm_100 on */
    uint32_t twin_relocation;
    uint32_t most; /* in a kernel */
    const char *name;
} kinds[] = {
    {STT_CUDA_SURFACE, R_CUDA_SURF_HEADER_INDEX, R_CUDA_SURF_HEADER_INDEX,
     R_MERCURY_SURF_HEADER_INDEX, 32, "surfaces"},
    {STT_CUDA_SAMPLER, R_CUDA_SAMP_HEADER_INDEX, R_CUDA_SAMP_HEADER_INDEX_0,
     R_MERCURY_SAMP_HEADER_INDEX, 32, "samplers"},
    {STT_CUDA_TEXTURE, R_CUDA_TEX_HEADER_INDEX, R_CUDA_TEX_HEADER_INDEX, R_MERCURY_TEX_HEADER_INDEX,
     256, "textures"},
};

#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static const struct reference_kind *reference_kind_of(const struct merged_symbol *reference)
{
    return &kinds[STT_CUDA_SURFACE - reference->type];
}

bool texture_has_words(const struct merging *m, uint32_t function)
{
    /* In a program with one kernel, dead code counts too. */
    return m->uses.reference_count > 0 && attributes_are_summed(m, function) &&
           ((m->reach[function].flags & REACHES_TEXTURE) ||
            (m->out->kernel_count == 1 && m->uses.names_reference));
}

/* Measured: the words' order is that of nvlink's sort (index_lists.c) of equal items in reverse. */
static void order_words(struct merging *m)
{
    struct textures *textures = &m->out->textures;
    size_t count = m->uses.reference_count;
    uint32_t *scratch = arena_alloc(&m->arena, count, sizeof *scratch);

    textures->words = arena_alloc(&m->arena, count, sizeof *textures->words);
    textures->offset = arena_alloc(&m->arena, m->symbol_count, sizeof *textures->offset);
    for (size_t i = 0; i < count; i++)
        textures->words[i] = m->uses.references[count - 1 - i];
    index_lists_sort_unstably(textures->words, count, scratch, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        textures->offset[textures->words[i]] = textures->base + WORD_SIZE * i;
}

/* Checks the number of references of kernels and the size of bank 0. */
static void check_words(struct merging *m, uint64_t end)
{
    uint32_t *counts = m->out->textures.counts;
    size_t k = 0;

    while (k < m->out->kernel_count && !texture_has_words(m, m->out->kernels[k]))
        k++;
    if (k == m->out->kernel_count)
        return;
    for (size_t i = 0; i < m->uses.reference_count; i++)
        counts[m->symbols[m->uses.references[i]].type]++;
    for (size_t kind = KIND_COUNT; kind-- > 0;)
        if (counts[kinds[kind].type] > kinds[kind].most)
            m->failed =
                !diag_fatal("More than %u %s used in entry function '%.*s'", kinds[kind].most,
                            kinds[kind].name, TEXT_ARG(m->symbols[m->out->kernels[k]].name));
    if (end <= CONSTANT_BANK_BYTES)
        return;
    MERGING_REFUSAL(m, "File uses too much constant data in bank 0 (%#llx bytes, %#x max)",
                    (unsigned long long)end, CONSTANT_BANK_BYTES);
}

/* Makes the words' twin, which has nothing else, and whose words are empty, too. */
static void add_word_twin(struct merging *m, uint32_t kernel, uint32_t bank)
{
    uint32_t index = layout_make(m, CLASS_TWIN_FUNCTION_CONSTANT, kernel);
    struct merged_section *twin = &m->out->sections[index];

    twin->name = arena_join(&m->image->arena, TEXT(SECTIONS_WORDS_TWIN), m->symbols[kernel].name);
    twin->type = SHT_CUDA_MERC_CONSTANT_IMAGE;
    twin->size = WORD_SIZE * m->uses.reference_count;
    layout_writable(m, index);
    twin->target = bank;
    m->out->sections[bank].twin = index;
}

bool texture_layout(struct merging *m)
{
    struct textures *textures = &m->out->textures;
    uint64_t end;

    if (m->uses.reference_count == 0 || m->request->relocatable)
        return true;
    textures->bank_of = layout_find_banks(m, 0);
    for (uint32_t i = 0; i < m->out->section_count; i++)
        if (merged_is_bank(&m->out->sections[i], 0))
            RAISE(textures->base, m->out->sections[i].size);
    textures->base =
        image_align_up(textures->base, merging_is_mercury(m) ? MERCURY_WORDS_ALIGNMENT : WORD_SIZE);
    order_words(m);
    end = textures->base + WORD_SIZE * m->uses.reference_count;
    check_words(m, end);
    for (size_t k = 0; k < m->out->kernel_count && !m->failed; k++) {
        uint32_t kernel = m->out->kernels[k];
        uint32_t *bank = &textures->bank_of[kernel];

        if (!texture_has_words(m, kernel))
            continue;
        if (*bank == MERGE_NONE) /* it has no parameters */
            *bank = layout_make(m, CLASS_FUNCTION_CONSTANT, kernel);
        m->out->sections[*bank].size = end;
        if (m->out->has_twins)
            add_word_twin(m, kernel, *bank);
    }
    return !m->failed;
}

static void relocate_kernel(struct merging *m, uint32_t kernel)
{
    uint32_t bank = m->out->textures.bank_of[kernel];
    bool is_mercury = merging_is_mercury(m);
    uint32_t list =
        layout_list(m, bank, is_mercury ? SHT_RELA : SHT_REL, is_mercury ? SHF_INFO_LINK : 0);
    uint32_t twin_list = !m->out->has_twins
                             ? MERGE_NONE
                             : layout_list(m, m->out->sections[bank].twin, SHT_CUDA_MERC_RELA,
                                           SHF_CUDA_MERCURY | SHF_INFO_LINK);

    layout_writable(m, bank);
    for (size_t i = 0; i < m->uses.reference_count; i++) {
        const struct merged_symbol *reference = &m->symbols[m->out->textures.words[i]];
        struct merged_relocation word = {
            .offset = m->out->textures.base + WORD_SIZE * i,
            .type = is_mercury ? reference_kind_of(reference)->mercury_relocation
                               : reference_kind_of(reference)->relocation,
            .list = list,
            .symbol = m->out->textures.words[i],
            .section = MERGE_NONE,
        };
        uint32_t owner = merging_holder(m, reference);

        if (owner != MERGE_NONE && owner != kernel)
            continue; /* a parameter of another kernel */
        layout_add_relocation(m, &word);
        word.offset = WORD_SIZE * i;
        word.type = reference_kind_of(reference)->twin_relocation;
        word.list = twin_list;
        if (twin_list != MERGE_NONE)
            layout_add_relocation(m, &word);
    }
}

void texture_relocate(struct merging *m, size_t end)
{
    const uint32_t *kernels = m->out->kernels;
    size_t *next = &m->out->textures.relocated;

    for (; *next < m->out->kernel_count && m->symbols[kernels[*next]].file < end; ++*next)
        if (texture_has_words(m, kernels[*next]))
            relocate_kernel(m, kernels[*next]);
}
