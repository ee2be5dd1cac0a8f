/* join_mercury.c: Mercury's second form of the code, from sm_100 on (merge/mercury.c).
 *
 * Twins go the ways of what they are the twins of: those of code, records, branch tables and their
 * relocations with their function, those of variables to the places that the variables have, and
 * frames are cut as the plain ones are. Measured on ptxas 13.0: in a relocatable cubin every
 * function has a twin, .nv.merc.nv.info is .nv.info to the byte, and what section symbols and
 * addends say counts from the begin of twins. Where that is not so all twins are left out. */
#include "join/join_plan.h"

#include <string.h>

#include "cubin/image.h"

/* Finds what each section is the twin of. */
static void pair_sections(struct join_input *input)
{
    uint32_t plain, twin;

    for (uint32_t i = 1; i < input->cubin->symbol_count; i++)
        if (cubin_twins_pair(input->cubin, &input->twins, i, &plain, &twin))
            input->sections[twin].plain = plain ? &input->sections[plain] : NULL;
}

/* Whether `plain` is the section of variables whose twin the other is, by kind, name and size. So
 * all chunks' twins of one name are of one united section, whose size they share. */
static bool is_copy_of(const struct cubin_section *twin, const struct cubin_section *plain)
{
    bool is_constant = twin->type == SHT_CUDA_MERC_CONSTANT_USER;

    return plain->type == (is_constant ? SHT_CUDA_CONSTANT0 + 3 : twin->type) &&
           text_equal(plain->name,
                      is_constant ? TEXT(".nv.constant3") : cubin_twin_plain_name(twin->name)) &&
           plain->size == twin->size;
}

/* The twin of the program's records equals them, and that of variables fits them. */
static const char *check_contents(const struct join_input *input)
{
    uint32_t info = cubin_section_find(input->cubin, TEXT(".nv.info"));

    for (size_t i = 1; i < input->cubin->section_count; i++) {
        const struct cubin_section *section = &input->cubin->sections[i];
        const struct join_section *plain = input->sections[i].plain;

        if (section->type == SHT_CUDA_MERC_INFO && !(section->flags & SHF_INFO_LINK) &&
            !bytes_equal(input->cubin->sections[info].data, section->data))
            return "their records are not the code's";
        if (join_is_copied_twin(section) && section->size > 0 &&
            (!plain || !is_copy_of(section, plain->source)))
            return "there is data of other size";
    }
    return NULL;
}

/* Decodes one list of relocations, which cubin_read() leaves as it is. */
static const char *read_list(struct join *join, struct join_input *input, uint32_t index)
{
    const struct cubin_section *section = &input->cubin->sections[index];
    size_t count = cubin_twin_relocation_count(section);
    struct cubin_relocation *list = arena_alloc(&join->arena, count, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        list[i] = cubin_twin_relocation(input->cubin, section, i);
        if (list[i].symbol == 0)
            return "a relocation is against no symbol";
    }
    input->sections[index].relocations = list;
    input->sections[index].relocation_count = count;
    return NULL;
}

static const char *find_in(struct join *join, struct join_input *input)
{
    const char *wrong = cubin_twins_check(input->cubin, &input->twins);

    if (wrong)
        return wrong;
    pair_sections(input);
    wrong = check_contents(input);
    for (uint32_t i = 1; !wrong && i < input->cubin->section_count; i++)
        if (input->cubin->sections[i].type == SHT_CUDA_MERC_RELA)
            wrong = read_list(join, input, i);
    return wrong;
}

void join_find_twins(struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        join->has_twins |= cubin_twins_find(join->inputs[i].cubin, &join->inputs[i].twins);
    for (size_t i = 0; join->has_twins && i < join->count; i++) {
        const char *wrong = find_in(join, &join->inputs[i]);

        if (!wrong)
            continue;
        cubin_twins_leave_out(join->inputs[i].cubin, wrong);
        join->has_twins = false;
    }
}

struct join_section *join_seen_section(const struct join_section *list, uint32_t symbol)
{
    const struct join_input *input = list->input;
    uint32_t section = cubin_is_mercury(list->source)
                           ? cubin_twin_section(input->cubin, &input->twins, symbol)
                           : input->cubin->symbols[symbol].section;

    return section < input->cubin->section_count ? &input->sections[section] : NULL;
}

/* Puts one chunk's twin of variables where they are. */
static void copy_blocks(struct join *join, struct join_section *twin)
{
    const struct join_section *plain = twin->plain;
    struct united_section *united = twin->united;

    if (!plain || !plain->united)
        return;
    if (!united->data) {
        united->size = plain->united->size;
        united->alignment = plain->united->alignment;
        united->data = arena_zalloc(&join->out->arena, united->size, 1);
    }
    twin->blocks = arena_alloc(&join->arena, plain->block_count, sizeof *twin->blocks);
    twin->block_count = plain->block_count;
    for (size_t i = 0; i < plain->block_count; i++) {
        struct join_block *block = &twin->blocks[i];

        *block = plain->blocks[i];
        block->section = twin;
        if (block->is_kept && block->size)
            memcpy(united->data + block->placed, twin->source->data.data + block->offset,
                   block->size);
    }
}

void join_unite_twins(struct join *join)
{
    for (size_t i = 0; join->has_twins && i < join->section_count; i++)
        if (join->sections[i].united && join->sections[i].united->is_copied)
            copy_blocks(join, &join->sections[i]);
}

/* By joined section: its joined twin, or itself. */
static uint32_t *pair_joined(struct join *join)
{
    uint32_t *twin_of = arena_alloc(&join->arena, join->out->section_count, sizeof *twin_of);

    for (uint32_t i = 0; i < join->out->section_count; i++)
        twin_of[i] = i;
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *twin = &join->sections[i];

        if (twin->plain && twin->joined && twin->plain->joined)
            twin_of[twin->plain->joined] = twin->joined;
    }
    return twin_of;
}

/* Functions have the size of their second form. */
static void set_sizes(const struct join *join, Elf64_Sym *rows)
{
    for (size_t i = 0; i < join->entity_count; i++) {
        const struct join_entity *entity = &join->entities[i];
        const struct join_input *input = &join->inputs[entity->cubin];

        if (entity->index && ELF64_ST_TYPE(rows[entity->index].st_info) == STT_FUNC)
            rows[entity->index].st_size =
                cubin_twin_symbol(input->cubin, &input->twins, entity->symbol).st_size;
    }
}

static void set_data(struct cubin *out, uint32_t section, const void *data, size_t size)
{
    out->sections[section].data = (struct bytes){data, size};
    out->sections[section].size = size;
}

void join_fill_twins(struct join *join, struct image_strings *strings)
{
    struct cubin *out = join->out;
    struct image_symbols rows = {.strings = strings, .count = out->symbol_count};
    uint32_t *twin_of;

    if (!join->has_twins)
        return;
    rows.table = arena_zalloc(&out->arena, rows.count, sizeof *rows.table);
    if (join->tables.twin_indices)
        rows.indices = arena_zalloc(&out->arena, rows.count, sizeof *rows.indices);
    twin_of = pair_joined(join);
    for (size_t i = 1; i < rows.count; i++) {
        const struct cubin_symbol *symbol = &out->symbols[i];
        struct text name = {0};

        if (symbol->type != STT_SECTION)
            name = symbol->name;
        image_put_symbol(&rows, i,
                         &(struct image_symbol){
                             .name = name,
                             .value = symbol->value,
                             .size = symbol->size,
                             .type = symbol->type,
                             .binding = symbol->binding,
                             .other = symbol->other,
                             .section = symbol->section < out->section_count
                                            ? twin_of[symbol->section]
                                            : symbol->section,
                         });
    }
    set_sizes(join, rows.table);
    set_data(out, join->tables.twin_symtab, rows.table, rows.count * sizeof *rows.table);
    out->sections[join->tables.twin_symtab].info = out->sections[out->symtab].info;
    if (rows.indices)
        set_data(out, join->tables.twin_indices, rows.indices, rows.count * sizeof *rows.indices);
    if (join->tables.twin_info) {
        struct bytes info = out->sections[join->tables.info].data;

        set_data(out, join->tables.twin_info, info.data, info.size);
    }
}
