/* join_sections.c: the joined section table, in the order in which ptxas writes its own. */
#include "join/internal.h"

#include "base/search.h"

#define STRTAB 2u
#define SYMTAB 3u

#define FILLED_LATER (CLASSES_OF_RELOCATIONS | CLASS_SET(INFO) | CLASS_SET(TWIN_INFO))

/* Classes whose contents name a chunk's symbols by number, and are made anew for all functions: a
 * function's own section of them, which no assembler writes, cannot be copied. */
#define NEVER_OWN                                                                                  \
    (CLASS_SET(NOTE) | CLASS_SET(COMPAT) | CLASS_SET(CALLGRAPH) | CLASS_SET(PROTOTYPE) |           \
     CLASS_SET(REL_ACTION) | CLASS_SET(TABLE))

/* Adds the joined section for a chunk's section; NULL: a section that is made anew. */
static uint32_t add_joined_section(struct join *join, const struct cubin_section *section,
                                   const struct join_section *from)
{
    struct cubin *out = join->out;
    struct cubin_section *added = &out->sections[out->section_count];

    *added = *section;
    added->facts = sections_find(added->type, added->flags, added->name);
    join->origins[out->section_count] = (struct join_origin){.section = from};
    return (uint32_t)out->section_count++;
}

/* The name of a function's section with the function's own name in place of the chunk's. */
static struct text own_section_name(struct join *join, struct text name,
                                    const struct join_entity *function)
{
    struct text own_name = join_own_name(join, function);

    if (text_equal(function->name, own_name) || !text_ends(name, function->name))
        return name;
    return arena_join(&join->out->arena, (struct text){name.data, name.size - function->name.size},
                      own_name);
}

/* Adds each function's sections of a class. */
static void add_function_sections(struct join *join, enum section_class class)
{
    for (size_t f = 0; f < join->function_count && !class_is_in(class, NEVER_OWN); f++) {
        struct join_section *text = join->functions[f];

        for (struct join_section *s = text; s; s = s->next_owned) {
            struct cubin_section section = *s->source;

            if (s->class != class)
                continue;
            section.name = own_section_name(join, section.name, text->entity);
            section.relocations = NULL;
            section.relocation_count = 0;
            if (class_is_in(class, FILLED_LATER))
                section.data = (struct bytes){0};
            s->joined = add_joined_section(join, &section, s);
        }
    }
}

static void add_united_class(struct join *join, enum section_class class)
{
    for (size_t i = 0; i < join->united_count; i++) {
        struct united_section *united = join->united[i];
        struct cubin_section section = *united->first->source;

        if (united->first->class != class || (class == CLASS_PROTOTYPE && !join->has_prototypes))
            continue;
        if (united->way != UNITED_ANEW) {
            section.alignment = (uint32_t)united->alignment;
            section.size = united->size;
            section.data = (struct bytes){united->data, united->data ? united->size : 0};
        }
        if (!(section.flags & SHF_INFO_LINK))
            section.info = 0;
        united->joined = join->made[class] = add_joined_section(join, &section, united->first);
    }
}

/* What is made anew stands in the order of the first chunk. */
COMPARISON(compare_united, struct united_section *,
           COMPARE((*b)->way == UNITED_ANEW, (*a)->way == UNITED_ANEW)
               ?: ((*a)->way == UNITED_ANEW ? 0
                                            : text_compare((*a)->first->source->name,
                                                           (*b)->first->source->name))
               ?: COMPARE((*a)->first, (*b)->first));

/* The header of a section that no chunk has. */
static struct cubin_section make_section(const struct section_facts *facts, uint32_t link)
{
    return (struct cubin_section){.name = facts->name,
                                  .type = facts->type,
                                  .flags = facts->flags,
                                  .alignment = facts->alignment,
                                  .entry_size = facts->entry_size,
                                  .link = link};
}

/* Adds a section for `count` relocations of a united section. */
static void add_relocations(struct join *join, const struct united_section *united, uint32_t type,
                            size_t count)
{
    /* The link to Mercury's symbol table is set later. */
    struct cubin_section section = make_section(sections_find(type, 0, (struct text){0}),
                                                type == SHT_CUDA_MERC_RELA ? 0 : SYMTAB);

    if (count == 0)
        return;
    section.name.size--; /* the dot is the name's */
    section.name = arena_join(&join->out->arena, section.name,
                              sections_plain_name(united->first->source->name));
    join->origins[add_joined_section(join, &section, NULL)].united = united;
}

/* Adds relocation sections of the united sections, or of Mercury's, which have none in place. */
static void add_united_relocations(struct join *join, bool of_mercury)
{
    for (size_t i = 0; i < join->united_count; i++) {
        const struct united_section *united = join->united[i];

        if (class_is_in(united->first->class, CLASSES_OF_MERCURY) != of_mercury)
            continue;
        add_relocations(join, united, SHT_REL, united->in_place_count);
        add_relocations(join, united, of_mercury ? SHT_CUDA_MERC_RELA : SHT_RELA,
                        united->relocation_count - united->in_place_count);
    }
}

static void add_table(struct join *join, enum section_class class, uint32_t link)
{
    struct cubin_section section = make_section(sections_of_class(class), link);

    join->made[class] = add_joined_section(join, &section, NULL);
}

/* Adds Mercury's own symbol table, with a table of 32-bit section indices if needed. */
static void add_mercury_tables(struct join *join)
{
    uint32_t next = (uint32_t)join->out->section_count;

    if (next + 2 >= SHN_LORESERVE)
        add_table(join, CLASS_TWIN_INDICES, next + 1);
    add_table(join, CLASS_TWIN_SYMTAB, STRTAB);
    for (size_t c = 0; c < join->count; c++)
        join->inputs[c].sections[join->inputs[c].cubin->twin_symtab].joined =
            join->made[CLASS_TWIN_SYMTAB];
}

/* Mercury's in the order of any toolkit, since the merge orders them anew; its tables of symbols
 * follow. */
static void add_classes(struct join *join)
{
    uint8_t order[CLASS_COUNT];

    sections_ptxas_order(order, toolkits_newest());
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        enum section_class class = order[i];

        if (class_is_in(class, CLASSES_OF_MERCURY) && !join->has_mercury)
            continue;
        add_united_class(join, class);
        add_function_sections(join, class);
        if (class_is_in(class, CLASSES_OF_RELOCATIONS))
            add_united_relocations(join, class == CLASS_TWIN_RELOCATIONS);
    }
    if (join->has_mercury)
        add_mercury_tables(join);
}

/* Maps the sections of a dropped copy to those of the copy that was kept. */
static void map_dropped(struct join_section *text)
{
    const struct join_section *kept =
        text->input->entities[text->source->info & 0xffffffu]->section;

    for (struct join_section *s = text; s && kept; s = s->next_owned, kept = kept->next_owned)
        if (text_equal(s->source->name, kept->source->name))
            s->joined = kept->joined;
}

/* Finds the joined section of each chunk's section, and which joined sections need symbols. */
static void map_chunk_sections(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        struct join_section *section = &join->sections[i];

        if (section->united)
            section->joined = section->united->joined;
        else if (cubin_is_text(section->source) && section->function == JOIN_NONE)
            map_dropped(section);
    }
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *section = &join->sections[i];

        if (section->has_symbol)
            join->origins[section->joined].wants_symbol = true;
        if (section->plain && section->joined && section->plain->joined)
            join->origins[section->plain->joined].twin = section->joined;
    }
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
                section->link = join->made[CLASS_TWIN_SYMTAB];
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
    const struct cubin_section first[] = {
        {.alignment = 1},
        make_section(sections_of_kind(KIND_NAMES, false), 0),
        [STRTAB] = make_section(sections_of_kind(KIND_STRINGS, false), 0),
        [SYMTAB] = make_section(sections_find(SHT_SYMTAB, 0, (struct text){0}), STRTAB),
    };
    /* Each united section may have two of relocations. */
    size_t most = 10 + 2 * join->united_count + join->section_count;

    /* By name, so that their order does not depend on the chunks. */
    SORT(join->united, join->united_count, compare_united);
    join->out->sections = arena_alloc(&join->out->arena, most, sizeof *join->out->sections);
    join->origins = arena_zalloc(&join->arena, most, sizeof *join->origins);
    for (size_t i = 0; i <= SYMTAB; i++)
        add_joined_section(join, &first[i], NULL);
    add_classes(join);
    map_chunk_sections(join);
    link_sections(join);
    join->out->symtab = SYMTAB;
}
