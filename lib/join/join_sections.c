/* join_sections.c: the joined section table, in the order in which ptxas 13.0 writes its own. */
#include "join/join_plan.h"

#include "base/context.h"
#include "base/search.h"

#define STRTAB 2u
#define SYMTAB 3u

/* Adds what section `source` of chunk `cubin` becomes; 0, 0: a section that is made anew. */
static uint32_t add(struct join *join, const struct cubin_section *section, uint32_t cubin,
                    uint32_t source)
{
    struct cubin *out = join->out;

    out->sections[out->section_count] = *section;
    join->origins[out->section_count] =
        (struct join_origin){.cubin = cubin, .section = source, .united = JOIN_NONE};
    return (uint32_t)out->section_count++;
}

/* A function's section's name with the function's own one: its chunk name stands at the end. */
static struct text own_section_name(struct join *join, struct text name, uint32_t entity)
{
    struct text chunk_name = join->entities[entity].name;
    struct text own_name = join_own_name(join, entity);
    size_t front = name.size - chunk_name.size;

    if (text_equal(chunk_name, own_name) || name.size < chunk_name.size ||
        memcmp(name.data + front, chunk_name.data, chunk_name.size) != 0)
        return name;
    return text_of(arena_printf(&join->out->arena, "%.*s%.*s",
                                TEXT_ARG(((struct text){name.data, front})), TEXT_ARG(own_name)));
}

/* Where a section of a function goes. */
enum place {
    PLACE_INFO,
    PLACE_RELOCATIONS,
    PLACE_CONSTANTS,
    PLACE_TEXT,
    PLACE_SHARED,
    PLACE_PARAMETERS,
    PLACE_OTHER,
    PLACE_TWIN_TEXT,
    PLACE_TWIN_INFO,
    PLACE_TWIN_RELOCATIONS,
    PLACE_TWIN_CONSTANTS
};

static enum place twin_place_of(const struct cubin_section *section)
{
    switch (section->type) {
    case SHT_CUDA_CAPMERC:
        return PLACE_TWIN_TEXT;
    case SHT_CUDA_MERC_INFO:
        return PLACE_TWIN_INFO;
    case SHT_CUDA_MERC_RELA:
        return PLACE_TWIN_RELOCATIONS;
    default:
        return PLACE_TWIN_CONSTANTS;
    }
}

static bool is_filled_later(enum place place)
{
    return place == PLACE_RELOCATIONS || place == PLACE_INFO || place == PLACE_TWIN_RELOCATIONS ||
           place == PLACE_TWIN_INFO;
}

static enum place place_of(const struct cubin_section *section)
{
    if (cubin_is_mercury(section))
        return twin_place_of(section);
    if (cubin_is_text(section))
        return PLACE_TEXT;
    if (section->type == SHT_CUDA_INFO)
        return PLACE_INFO;
    if (section->type == SHT_REL || section->type == SHT_RELA)
        return PLACE_RELOCATIONS;
    if (section->type == SHT_CUDA_CONSTANT0)
        return PLACE_PARAMETERS;
    if (format_is_constant(section->type))
        return PLACE_CONSTANTS;
    return section->type == SHT_CUDA_SHARED ? PLACE_SHARED : PLACE_OTHER;
}

/* Adds each function's sections that belong at `place`. */
static void add_own(struct join *join, enum place place)
{
    for (size_t f = 0; f < join->function_count; f++) {
        const struct join_function *function = &join->functions[f];
        struct join_input *input = &join->inputs[function->cubin];

        for (uint32_t i = function->text; i; i = input->sections[i].next_owned) {
            struct cubin_section section;

            if (place_of(&input->cubin->sections[i]) != place)
                continue;
            section = input->cubin->sections[i];
            section.name = own_section_name(join, section.name, function->entity);
            section.relocations = NULL;
            section.relocation_count = 0;
            if (is_filled_later(place))
                section.data = (struct bytes){0};
            input->sections[i].joined = add(join, &section, function->cubin, i);
        }
    }
}

/* Adds one united section, unless nothing of it is left. */
static void add_united(struct join *join, struct united_section *united)
{
    struct cubin_section section = *united->source;

    section.alignment = united->alignment;
    section.size = united->size;
    section.data = (struct bytes){united->data, united->data ? united->size : 0};
    if (!(section.flags & SHF_INFO_LINK))
        section.info = 0;
    united->joined = add(join, &section, united->cubin, united->section);
}

static bool is_data(uint32_t type)
{
    return type == SHT_CUDA_GLOBAL || type == SHT_CUDA_GLOBAL_INIT || type == SHT_CUDA_SHARED ||
           format_is_constant(type);
}

/* Adds the united sections of types `first` to `last`; 0 to 0: all that are no data. Without those
 * of Mercury's. */
static void add_united_types(struct join *join, struct united_section *const *order, uint32_t first,
                             uint32_t last)
{
    for (size_t i = 0; i < join->united_count; i++) {
        struct united_section *united = order[i];
        uint32_t type = united->source->type;

        if (!cubin_is_mercury(united->source) &&
            (last ? type >= first && type <= last : !is_data(type)))
            add_united(join, united);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct united_section *x = *(struct united_section *const *)a;
    const struct united_section *y = *(struct united_section *const *)b;
    int order = text_compare(x->source->name, y->source->name);

    return order ? order : x < y ? -1 : 1;
}

/* The united sections by name, so that their order does not depend on the chunks. */
static struct united_section **sorted_united(struct join *join)
{
    struct united_section **order =
        arena_alloc(&join->arena, join->united_count, sizeof(struct united_section *));

    for (size_t i = 0; i < join->united_count; i++)
        order[i] = &join->united[i];
    SORT(order, join->united_count, by_name);
    return order;
}

/* Adds a section for a united one's relocations, unless there are none of that kind. */
static void add_relocations(struct join *join, const struct united_section *united, uint32_t type)
{
    size_t in_place = united->in_place_count, all = united->relocation_count;
    bool is_twin = type == SHT_CUDA_MERC_RELA;
    struct text name = united->source->name;
    const char *prefix = is_twin ? ".nv.merc.rela" : type == SHT_REL ? ".rel" : ".rela";
    struct cubin_section section = {
        .type = type,
        .flags = is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK,
        .link = is_twin ? 0 : SYMTAB, /* Mercury's symbols come later */
        .alignment = 8,
        .entry_size = type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela),
    };

    if ((is_twin ? all : type == SHT_REL ? in_place : all - in_place) == 0)
        return;
    if (is_twin)
        name = cubin_twin_plain_name(name);
    section.name = text_of(arena_printf(&join->out->arena, "%s%.*s", prefix, TEXT_ARG(name)));
    join->origins[add(join, &section, 0, 0)].united = (uint32_t)(united - join->united);
}

/* The relocations of the united sections, or of their twins. */
static void add_united_relocations(struct join *join, struct united_section *const *order,
                                   bool of_twins)
{
    for (size_t i = 0; i < join->united_count; i++) {
        if (cubin_is_mercury(order[i]->source) != of_twins)
            continue;
        if (of_twins) {
            add_relocations(join, order[i], SHT_CUDA_MERC_RELA);
        } else {
            add_relocations(join, order[i], SHT_REL);
            add_relocations(join, order[i], SHT_RELA);
        }
    }
}

/* The united twins of data, or those of debug information. */
static void add_united_twins(struct join *join, struct united_section *const *order, bool is_data)
{
    for (size_t i = 0; i < join->united_count; i++)
        if (cubin_is_mercury(order[i]->source) &&
            is_data == (order[i]->source->type != SHT_PROGBITS))
            add_united(join, order[i]);
}

/* Mercury's own symbol table, with section indices of 32 bits where there are so many. */
static void add_twin_tables(struct join *join)
{
    if (join->out->section_count + 2 >= SHN_LORESERVE)
        join->tables.twin_indices =
            add(join,
                &(struct cubin_section){.name = TEXT(".nv.merc.symtab_shndx"),
                                        .type = SHT_SYMTAB_SHNDX,
                                        .flags = SHF_CUDA_MERCURY,
                                        .link = (uint32_t)join->out->section_count + 1,
                                        .alignment = 4,
                                        .entry_size = sizeof(Elf32_Word)},
                0, 0);
    join->tables.twin_symtab = add(join,
                                   &(struct cubin_section){.name = TEXT(".nv.merc.symtab"),
                                                           .type = SHT_CUDA_MERC_SYMTAB,
                                                           .flags = SHF_CUDA_MERCURY,
                                                           .link = STRTAB,
                                                           .alignment = 8,
                                                           .entry_size = sizeof(Elf64_Sym)},
                                   0, 0);
    for (size_t c = 0; c < join->count; c++)
        join->inputs[c].sections[join->inputs[c].twins.symtab].joined = join->tables.twin_symtab;
}

/* Adds each chunk's sections of a type that belong to no function, or only the first of each name.
 */
static uint32_t add_first(struct join *join, uint32_t type)
{
    struct table names = {0};
    uint32_t last = 0;

    CONTEXT_DEFER(table_cleanup, &names);
    for (uint32_t c = 0; c < join->count; c++) {
        struct join_input *input = &join->inputs[c];

        for (uint32_t i = 1; i < input->cubin->section_count; i++) {
            const struct cubin_section *section = &input->cubin->sections[i];
            uint32_t known;

            if (section->type != type || input->sections[i].text ||
                cubin_is_mercury(section) != (type == SHT_CUDA_MERC_INFO))
                continue;
            known = table_find(&names, section->name);
            if (known == TABLE_NONE) {
                known = last = add(join, section, c, i);
                table_add(&names, section->name, known);
            }
            input->sections[i].joined = known;
        }
    }
    return last;
}

/* The second form of all that, in the order of ptxas. */
static void add_twins(struct join *join, struct united_section *const *order)
{
    if (!join->has_twins)
        return;
    add_own(join, PLACE_TWIN_TEXT);
    add_united_twins(join, order, false);
    join->tables.twin_info = add_first(join, SHT_CUDA_MERC_INFO);
    add_own(join, PLACE_TWIN_INFO);
    add_own(join, PLACE_TWIN_RELOCATIONS);
    add_united_relocations(join, order, true);
    add_own(join, PLACE_TWIN_CONSTANTS);
    add_united_twins(join, order, true);
    add_twin_tables(join);
}

/* Sections of copies that were dropped stand for those of the copy that was kept. */
static void map_dropped(struct join *join, uint32_t cubin, uint32_t text)
{
    struct join_input *input = &join->inputs[cubin];
    uint32_t function = input->cubin->sections[text].info & 0xffffffu;
    const struct join_entity *entity = &join->entities[join_entity_of(join, cubin, function)];
    const struct join_input *kept = &join->inputs[entity->cubin];
    uint32_t j = kept->cubin->symbols[entity->symbol].section;

    if (!cubin_has_section(kept->cubin, j))
        return;
    for (uint32_t i = text; i && j;
         i = input->sections[i].next_owned, j = kept->sections[j].next_owned)
        if (text_equal(input->cubin->sections[i].name, kept->cubin->sections[j].name))
            input->sections[i].joined = kept->sections[j].joined;
}

/* Says for each chunk's section which joined one it went into, and which of those have symbols. */
static void map_sections(struct join *join)
{
    for (uint32_t c = 0; c < join->count; c++) {
        struct join_input *input = &join->inputs[c];

        for (uint32_t i = 1; i < input->cubin->section_count; i++) {
            struct join_input_section *section = &input->sections[i];

            if (section->united != JOIN_NONE)
                section->joined = join->united[section->united].joined;
            else if (cubin_is_text(&input->cubin->sections[i]) && section->function == JOIN_NONE)
                map_dropped(join, c, i);
        }
        for (uint32_t i = 1; i < input->cubin->section_count; i++)
            if (input->sections[i].has_symbol)
                join->origins[input->sections[i].joined].wants_symbol = true;
    }
}

/* Turns the chunks' section indices into joined ones. */
static void link_sections(struct join *join)
{
    for (size_t i = SYMTAB + 1; i < join->out->section_count; i++) {
        struct cubin_section *section = &join->out->sections[i];
        const struct join_origin *origin = &join->origins[i];
        const struct join_input_section *sections = join->inputs[origin->cubin].sections;

        if (origin->united != JOIN_NONE) {
            section->info = join->united[origin->united].joined;
            if (section->type == SHT_CUDA_MERC_RELA)
                section->link = join->tables.twin_symtab;
            continue;
        }
        if (origin->section == 0)
            continue;
        if (section->link)
            section->link = section->link == join->inputs[origin->cubin].cubin->symtab
                                ? SYMTAB
                                : sections[section->link].joined;
        if ((section->flags & SHF_INFO_LINK) || section->type == SHT_REL ||
            section->type == SHT_RELA)
            section->info = sections[section->info].joined;
        if (section->info == 0)
            section->flags &= ~(uint64_t)SHF_INFO_LINK;
    }
}

void join_make_sections(struct join *join)
{
    static const struct cubin_section first[] = {
        {.alignment = 1},
        {.name = TEXT(".shstrtab"), .type = SHT_STRTAB, .alignment = 1},
        [STRTAB] = {.name = TEXT(".strtab"), .type = SHT_STRTAB, .alignment = 1},
        [SYMTAB] = {.name = TEXT(".symtab"),
                    .type = SHT_SYMTAB,
                    .link = STRTAB,
                    .alignment = 8,
                    .entry_size = sizeof(Elf64_Sym)},
    };
    struct united_section **order = sorted_united(join);
    size_t most = 10 + 2 * join->united_count;

    for (size_t c = 0; c < join->count; c++)
        most += join->inputs[c].cubin->section_count;
    join->out->sections = arena_alloc(&join->out->arena, most, sizeof *join->out->sections);
    join->origins = arena_zalloc(&join->arena, most, sizeof *join->origins);
    for (size_t i = 0; i <= SYMTAB; i++)
        add(join, &first[i], 0, 0);
    add_united_types(join, order, 0, 0);
    add_first(join, SHT_NOTE);
    join->tables.info = add_first(join, SHT_CUDA_INFO);
    join->tables.compat = add_first(join, SHT_CUDA_COMPAT);
    add_own(join, PLACE_INFO);
    join->tables.callgraph = add_first(join, SHT_CUDA_CALLGRAPH);
    if (join->graph[JOIN_PROTOTYPES].count)
        join->tables.prototypes = add_first(join, SHT_CUDA_PROTOTYPE);
    add_own(join, PLACE_RELOCATIONS);
    add_united_relocations(join, order, false);
    add_united_types(join, order, SHT_CUDA_CONSTANT0, SHT_CUDA_CONSTANT_LAST);
    add_own(join, PLACE_CONSTANTS);
    add_own(join, PLACE_TEXT);
    add_united_types(join, order, SHT_CUDA_GLOBAL_INIT, SHT_CUDA_GLOBAL_INIT);
    add_own(join, PLACE_SHARED);
    add_united_types(join, order, SHT_CUDA_SHARED, SHT_CUDA_SHARED);
    add_united_types(join, order, SHT_CUDA_GLOBAL, SHT_CUDA_GLOBAL);
    add_own(join, PLACE_PARAMETERS);
    add_own(join, PLACE_OTHER);
    add_twins(join, order);
    map_sections(join);
    link_sections(join);
    join->out->symtab = SYMTAB;
}
