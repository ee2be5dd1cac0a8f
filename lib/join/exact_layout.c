/* exact_layout.c: where sections stand in the file.
 *
 * One behind the other, aligned, as nvlink does, but for two gaps: from sm_90 on the assembler
 * makes room for names that it then drops or shortens (measured; what the numbers are made of is
 * not known for all). So the gaps of each chunk are checked, and so is the place of each section:
 * a chunk that the rules do not give is not joined. */
#include <string.h>

#include "join/exact_plan.h"

/* What the two gaps depend on. */
struct gaps {
    uint64_t codes; /* what the names of Mercury's code, on sm_90, would take */
    uint64_t
        renamed; /* what old names of constants have more than the new, and their relocations' */
    bool has_mercury;
    bool is_builtin; /* the built-in assembler leaves none */
};

/* What the sections of a bank are called at first: nothing for those that keep their name. */
static size_t old_bank_name(struct text name)
{
    static const char *const old[3] = {".nv.constant.optimizer", ".nv.constant.user",
                                       ".nv.constant.pic"};
    struct text prefix = TEXT(".nv.constant");
    size_t bank;

    if (!text_starts(name, prefix) || name.size <= prefix.size)
        return 0;
    bank = (size_t)(name.data[prefix.size] - '2');
    return bank < 3 ? strlen(old[bank]) : 0;
}

static void count_section(struct gaps *gaps, struct text name)
{
    struct text plain = name;
    size_t old;

    gaps->has_mercury |= text_equal(name, TEXT(".nv.merc.symtab"));
    gaps->is_builtin |= text_equal(name, TEXT(".note.minilink"));
    if (text_starts(name, TEXT(".text.")))
        gaps->codes += sizeof ".nv.capmerc" + name.size;
    text_skip(&plain, TEXT(".rela"));
    old = old_bank_name(plain);
    if (old && plain.size == name.size)
        gaps->renamed += old - (sizeof ".nv.constant4" - 1) - 1;
    else if (old)
        gaps->renamed += name.size + old - (sizeof ".nv.constant4" - 1);
}

/* Between .shstrtab and .strtab. */
static uint64_t first_gap(const struct exact *join, const struct gaps *gaps)
{
    if (exact_sm(join) < 90 || gaps->is_builtin)
        return 0;
    return gaps->has_mercury ? 36 : 14 + gaps->codes;
}

/* Between .strtab and .symtab, before alignment. */
static uint64_t second_gap(const struct gaps *gaps)
{
    return gaps->has_mercury ? gaps->renamed : 0;
}

static uint64_t gap_before(const struct exact *join, const struct gaps *gaps, size_t index)
{
    if (index == EXACT_STRINGS)
        return first_gap(join, gaps);
    return index == EXACT_SYMBOLS ? second_gap(gaps) : 0;
}

/* Whether a chunk's sections stand where the rules place them. */
static bool check_chunk(struct exact *join, size_t chunk)
{
    const struct exact_input *input = &join->inputs[chunk];
    const struct cubin *cubin = &input->cubin;
    uint64_t position = sizeof(Elf64_Ehdr);
    struct gaps gaps = {0};

    for (size_t i = 1; i < cubin->section_count; i++)
        count_section(&gaps, cubin->sections[i].name);
    for (size_t i = 1; i < cubin->section_count; i++) {
        const struct cubin_section *section = &cubin->sections[i];
        uint64_t place = image_align_up(position + gap_before(join, &gaps, i), section->alignment);

        if (section->has_no_bytes) {
            position = place;
            continue;
        }
        if (section->size > 0 && section->data.data != input->file.data + place) {
            /* A twin that stands in the place of what it is the twin of. */
            if (input->section_class[i] >= EXACT_MERCURY_CODE &&
                input->section_owner[i] == EXACT_COMMON &&
                section->data.data < input->file.data + position)
                continue;
            return exact_unsupported(join, chunk, i, "stands at another place");
        }
        position = place + section->size;
    }
    return true;
}

bool exact_layout(struct exact *join)
{
    struct image *image = &join->image;
    struct gaps gaps = {0};

    for (size_t i = 0; i < join->count; i++)
        if (!check_chunk(join, i))
            return false;
    for (size_t i = 1; i < image->section_count; i++)
        count_section(&gaps, image->sections[i].name);
    image_layout_program(image, first_gap(join, &gaps), second_gap(&gaps), exact_sm(join) >= 90);
    return true;
}
