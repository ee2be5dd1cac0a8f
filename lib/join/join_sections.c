/* join_sections.c: the joined section table, in the order in which ptxas writes its own. */
#include "join/join_plan.h"

#include "base/context.h"
#include "base/search.h"

#define STRTAB 2u
#define SYMTAB 3u

/* Adds the joined section for a chunk's section; NULL: a section that is made anew. */
static uint32_t add(struct join *join, const struct cubin_section *section,
                    const struct join_section *from)
{
    struct cubin *out = join->out;

    out->sections[out->section_count] = *section;
    join->origins[out->section_count] = (struct join_origin){.section = from};
    return (uint32_t)out->section_count++;
}

/* The name of a function's section with the function's own name in place of the chunk name at its
 * end. */
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

        for (struct join_section *s = function->text; s; s = s->next_owned) {
            struct cubin_section section = *s->source;

            if (place_of(s->source) != place)
                continue;
            section.name = own_section_name(join, section.name, function->entity);
            section.relocations = NULL;
            section.relocation_count = 0;
            if (is_filled_later(place))
                section.data = (struct bytes){0};
            s->joined = add(join, &section, s);
        }
    }
}

/* Adds one united section, unless it is empty. */
static void add_united(struct join *join, struct united_section *united)
{
    struct cubin_section section = *united->first->source;

    section.alignment = united->alignment;
    section.size = united->size;
    section.data = (struct bytes){united->data, united->data ? united->size : 0};
    if (!(section.flags & SHF_INFO_LINK))
        section.info = 0;
    united->joined = add(join, &section, united->first);
}

static bool is_data(uint32_t type)
{
    return type == SHT_CUDA_GLOBAL || type == SHT_CUDA_GLOBAL_INIT || type == SHT_CUDA_SHARED ||
           format_is_constant(type);
}

/* Adds the united sections of types `first` to `last`, or with 0 and 0 all that are not data;
 * Mercury sections are excluded. */
static void add_united_types(struct join *join, uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < join->united_count; i++) {
        struct united_section *united = join->united[i];
        uint32_t type = united->first->source->type;

        if (!cubin_is_mercury(united->first->source) &&
            (last ? type >= first && type <= last : !is_data(type)))
            add_united(join, united);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct united_section *x = *(struct united_section *const *)a;
    const struct united_section *y = *(struct united_section *const *)b;
    int order = text_compare(x->first->source->name, y->first->source->name);

    return order ? order : x->first < y->first ? -1 : 1;
}

/* Adds a section for a united section's relocations, unless it has none of that kind. */
static void add_relocations(struct join *join, const struct united_section *united, uint32_t type)
{
    size_t in_place = united->in_place_count, all = united->relocation_count;
    bool is_twin = type == SHT_CUDA_MERC_RELA;
    struct text name = united->first->source->name;
    const char *prefix = is_twin ? ".nv.merc.rela" : type == SHT_REL ? ".rel" : ".rela";
    struct cubin_section section = {
        .type = type,
        .flags = is_twin ? SHF_INFO_LINK | SHF_CUDA_MERCURY : SHF_INFO_LINK,
        .link = is_twin ? 0 : SYMTAB, /* the index of Mercury's symbol table is set later */
        .alignment = 8,
        .entry_size = type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela),
    };

    if ((is_twin ? all : type == SHT_REL ? in_place : all - in_place) == 0)
        return;
    if (is_twin)
        name = cubin_twin_plain_name(name);
    section.name = text_of(arena_printf(&join->out->arena, "%s%.*s", prefix, TEXT_ARG(name)));
    join->origins[add(join, &section, NULL)].united = united;
}

/* Adds relocation sections of the united sections, or of their twins. */
static void add_united_relocations(struct join *join, bool of_twins)
{
    for (size_t i = 0; i < join->united_count; i++) {
        if (cubin_is_mercury(join->united[i]->first->source) != of_twins)
            continue;
        if (of_twins) {
            add_relocations(join, join->united[i], SHT_CUDA_MERC_RELA);
        } else {
            add_relocations(join, join->united[i], SHT_REL);
            add_relocations(join, join->united[i], SHT_RELA);
        }
    }
}

/* Adds the united twins of data, or those of debug information. */
static void add_united_twins(struct join *join, bool is_data)
{
    for (size_t i = 0; i < join->united_count; i++)
        if (cubin_is_mercury(join->united[i]->first->source) &&
            is_data == (join->united[i]->first->source->type != SHT_PROGBITS))
            add_united(join, join->united[i]);
}

/* Adds Mercury's own symbol table, with a table of 32-bit section indices if needed. */
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
                NULL);
    join->tables.twin_symtab = add(join,
                                   &(struct cubin_section){.name = TEXT(".nv.merc.symtab"),
                                                           .type = SHT_CUDA_MERC_SYMTAB,
                                                           .flags = SHF_CUDA_MERCURY,
                                                           .link = STRTAB,
                                                           .alignment = 8,
                                                           .entry_size = sizeof(Elf64_Sym)},
                                   NULL);
    for (size_t c = 0; c < join->count; c++)
        join->inputs[c].sections[join->inputs[c].twins.symtab].joined = join->tables.twin_symtab;
}

/* Adds the first section of each name among the chunks' sections of a type that belong to no
 * function. */
static uint32_t add_first(struct join *join, uint32_t type)
{
    struct table names = {0};
    uint32_t last = 0;

    CONTEXT_DEFER(table_cleanup, &names);
    for (size_t i = 0; i < join->section_count; i++) {
        struct join_section *section = &join->sections[i];
        const struct cubin_section *source = section->source;

        if (source->type != type || section->text || section->united ||
            cubin_is_mercury(source) != (type == SHT_CUDA_MERC_INFO))
            continue;
        section->joined = table_find(&names, source->name);
        if (section->joined == TABLE_NONE) {
            section->joined = last = add(join, source, section);
            table_add(&names, source->name, last);
        }
    }
    return last;
}

/* Adds the Mercury twins, in the order of ptxas. */
static void add_twins(struct join *join)
{
    if (!join->has_twins)
        return;
    add_own(join, PLACE_TWIN_TEXT);
    add_united_twins(join, false);
    join->tables.twin_info = add_first(join, SHT_CUDA_MERC_INFO);
    add_own(join, PLACE_TWIN_INFO);
    add_own(join, PLACE_TWIN_RELOCATIONS);
    add_united_relocations(join, true);
    add_own(join, PLACE_TWIN_CONSTANTS);
    add_united_twins(join, true);
    add_twin_tables(join);
}

/* Maps the sections of a dropped copy to those of the copy that was kept. */
static void map_dropped(struct join *join, struct join_section *text)
{
    uint32_t function = text->source->info & 0xffffffu;
    const struct join_section *kept =
        join_definition_section(join, join_entity_of(join, text->cubin, function));

    for (struct join_section *s = text; s && kept; s = s->next_owned, kept = kept->next_owned)
        if (text_equal(s->source->name, kept->source->name))
            s->joined = kept->joined;
}

/* Finds the joined section of each chunk's section, and which joined sections need symbols. */
static void map_sections(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        struct join_section *section = &join->sections[i];

        if (section->united)
            section->joined = section->united->joined;
        else if (cubin_is_text(section->source) && section->function == JOIN_NONE)
            map_dropped(join, section);
    }
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].has_symbol)
            join->origins[join->sections[i].joined].wants_symbol = true;
}

/* Replaces the chunks' section indices by joined ones. */
static void link_sections(struct join *join)
{
    for (size_t i = SYMTAB + 1; i < join->out->section_count; i++) {
        struct cubin_section *section = &join->out->sections[i];
        const struct join_origin *origin = &join->origins[i];
        const struct join_input *input;

        if (origin->united) {
            section->info = origin->united->joined;
            if (section->type == SHT_CUDA_MERC_RELA)
                section->link = join->tables.twin_symtab;
            continue;
        }
        if (!origin->section)
            continue;
        input = origin->section->input;
        if (section->link)
            section->link = section->link == input->cubin->symtab
                                ? SYMTAB
                                : input->sections[section->link].joined;
        if ((section->flags & SHF_INFO_LINK) || section->type == SHT_REL ||
            section->type == SHT_RELA)
            section->info = input->sections[section->info].joined;
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
    /* Each united section may have two of relocations. */
    size_t most = 10 + 2 * join->united_count + join->section_count;

    /* By name, so that their order does not depend on the chunks. */
    SORT(join->united, join->united_count, by_name);
    join->out->sections = arena_alloc(&join->out->arena, most, sizeof *join->out->sections);
    join->origins = arena_zalloc(&join->arena, most, sizeof *join->origins);
    for (size_t i = 0; i <= SYMTAB; i++)
        add(join, &first[i], NULL);
    add_united_types(join, 0, 0);
    add_first(join, SHT_NOTE);
    join->tables.info = add_first(join, SHT_CUDA_INFO);
    join->tables.compat = add_first(join, SHT_CUDA_COMPAT);
    add_own(join, PLACE_INFO);
    join->tables.callgraph = add_first(join, SHT_CUDA_CALLGRAPH);
    if (join->graph[JOIN_PROTOTYPES].count)
        join->tables.prototypes = add_first(join, SHT_CUDA_PROTOTYPE);
    add_own(join, PLACE_RELOCATIONS);
    add_united_relocations(join, false);
    add_united_types(join, SHT_CUDA_CONSTANT0, SHT_CUDA_CONSTANT_LAST);
    add_own(join, PLACE_CONSTANTS);
    add_own(join, PLACE_TEXT);
    add_united_types(join, SHT_CUDA_GLOBAL_INIT, SHT_CUDA_GLOBAL_INIT);
    add_own(join, PLACE_SHARED);
    add_united_types(join, SHT_CUDA_SHARED, SHT_CUDA_SHARED);
    add_united_types(join, SHT_CUDA_GLOBAL, SHT_CUDA_GLOBAL);
    add_own(join, PLACE_PARAMETERS);
    add_own(join, PLACE_OTHER);
    add_twins(join);
    map_sections(join);
    link_sections(join);
    join->out->symtab = SYMTAB;
}
