/* join_mercury.c: joins Mercury's twins, from sm_100 on (merge/mercury.c).
 *
 * Twins are treated like their plain sections: those of code, records, branch tables and their
 * relocations stay with their function, those of variables are placed like the variables, and
 * frames are cut like the plain ones. Measured on ptxas: in a relocatable cubin every function has
 * a twin, .nv.merc.nv.info equals .nv.info byte for byte, and section symbols and addends count
 * from the start of the twins. If that does not hold, all of them are left out. */
#include "join/internal.h"

#include "cubin/image.h"

/* Finds the plain section of each twin. */
static void pair_sections(struct join_input *input)
{
    uint32_t plain, twin;

    for (uint32_t i = 1; i < input->cubin->symbol_count; i++)
        if (cubin_twins_pair(input->cubin, i, &plain, &twin))
            input->sections[twin].plain = plain ? &input->sections[plain] : NULL;
}

/* Returns why `twin` is not the twin of the variables in `plain`, by kind, name and size, or NULL.
 * So all chunks' twins of one name belong to one united section and share its size. */
static const char *check_twin(const struct cubin_section *twin, const struct cubin_section *plain)
{
    bool is_constant = twin->type == SHT_CUDA_MERC_CONSTANT_USER;
    struct text name = is_constant ? TEXT(".nv.constant3") : sections_plain_name(twin->name);

    if (plain->type != (is_constant ? SHT_CUDA_CONSTANT0 + 3 : twin->type) ||
        !text_equal(plain->name, name))
        return "there is data of another name or type";
    return plain->size == twin->size ? NULL : "there is data of other size";
}

/* Checks that the twin of .nv.info equals it and that twins of variables match their sections. */
static const char *check_contents(const struct join_input *input)
{
    uint32_t info = cubin_find_class(input->cubin, CLASS_INFO);

    for (size_t i = 1; i < input->cubin->section_count; i++) {
        const struct cubin_section *section = &input->cubin->sections[i];
        const struct join_section *plain = input->sections[i].plain;

        if (section->type == SHT_CUDA_MERC_INFO && !(section->flags & SHF_INFO_LINK) &&
            !bytes_equal(input->cubin->sections[info].data, section->data))
            return "their records are not the code's";
        if (join_is_mercury_data(section) && section->size > 0) {
            const char *wrong =
                plain ? check_twin(section, plain->source) : "there is data without a symbol";

            if (wrong)
                return wrong;
        }
    }
    return NULL;
}

static const char *read_mercury(struct join_input *input)
{
    const struct cubin *cubin = input->cubin;
    const char *wrong = cubin_twins_check(cubin);

    if (!wrong) {
        pair_sections(input);
        wrong = check_contents(input);
    }
    for (const struct cubin_section *s = cubin->sections;
         s < cubin->sections + cubin->section_count; s++)
        for (size_t i = 0; !wrong && s->type == SHT_CUDA_MERC_RELA && i < s->relocation_count; i++)
            if (s->relocations[i].symbol == 0)
                wrong = "a relocation is against no symbol";
    return wrong;
}

void join_find_mercury(struct join *join)
{
    for (size_t i = 0; i < join->count; i++)
        join->has_mercury |= join->inputs[i].cubin->has_twins;
    for (size_t i = 0; join->has_mercury && i < join->count; i++) {
        const char *wrong = read_mercury(&join->inputs[i]);

        if (!wrong)
            continue;
        cubin_twins_leave_out(join->inputs[i].cubin, wrong);
        join->has_mercury = false;
    }
}

struct join_section *join_seen_section(const struct join_section *list, uint32_t symbol)
{
    const struct join_input *input = list->input;
    uint32_t section = cubin_is_mercury(list->source) ? cubin_twin_section(input->cubin, symbol)
                                                      : input->cubin->symbols[symbol].section;

    return section < input->cubin->section_count ? &input->sections[section] : NULL;
}

/* Copies one chunk's twin of variables to the places of the variables. */
static void place_twin(struct join *join, const struct join_section *twin)
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
    for (size_t i = 0; i < plain->block_count; i++) {
        const struct join_block *block = &plain->blocks[i];

        if (block->is_kept && block->size)
            memcpy(united->data + block->placed, twin->source->data.data + block->offset,
                   block->size);
    }
}

void join_unite_mercury(struct join *join)
{
    for (size_t i = 0; join->has_mercury && i < join->section_count; i++)
        if (join->sections[i].united && join->sections[i].united->way == UNITED_TWIN)
            place_twin(join, &join->sections[i]);
}

/* Gives functions the size of their Mercury form. */
static void set_mercury_sizes(const struct join *join, Elf64_Sym *rows)
{
    for (size_t i = 0; i < join->entity_count; i++) {
        const struct join_entity *entity = &join->entities[i];

        if (entity->index && entity->source->type == STT_FUNC)
            rows[entity->index].st_size =
                cubin_twin_symbol(entity->input->cubin, entity->symbol).st_size;
    }
}

void join_fill_mercury(struct join *join, struct image_strings *strings)
{
    struct cubin *out = join->out;
    struct image_symbols rows = {.strings = strings, .count = out->symbol_count};

    if (!join->has_mercury)
        return;
    rows.table = arena_zalloc(&out->arena, rows.count, sizeof *rows.table);
    if (join->made[CLASS_TWIN_INDICES])
        rows.indices = arena_zalloc(&out->arena, rows.count, sizeof *rows.indices);
    for (size_t i = 1; i < rows.count; i++) {
        const struct cubin_symbol *symbol = &out->symbols[i];
        struct text name = {0};
        uint32_t twin =
            symbol->section < out->section_count ? join->origins[symbol->section].twin : 0;

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
                             .section = twin ? twin : symbol->section,
                         });
    }
    set_mercury_sizes(join, rows.table);
    out->has_twins = true;
    out->twin_symtab = join->made[CLASS_TWIN_SYMTAB];
    out->twin_indices = join->made[CLASS_TWIN_INDICES];
    join_set_data(join, join->made[CLASS_TWIN_SYMTAB], rows.table, rows.count * sizeof *rows.table);
    out->sections[join->made[CLASS_TWIN_SYMTAB]].info = out->sections[out->symtab].info;
    if (rows.indices)
        join_set_data(join, join->made[CLASS_TWIN_INDICES], rows.indices,
                      rows.count * sizeof *rows.indices);
    if (join->made[CLASS_TWIN_INFO]) {
        struct bytes info = out->sections[join->made[CLASS_INFO]].data;

        join_set_data(join, join->made[CLASS_TWIN_INFO], info.data, info.size);
    }
}
