/* join_symbols.c: the joined symbol table.
 *
 * Local symbols come first, then weak ones, then global ones; within each group, functions with the
 * symbols in their sections in program order, then data by place, then undefined symbols by name.
 * Promoted symbols get their own names and bindings back. */
#include "join/internal.h"

#include "base/search.h"

/* A symbol that belongs to no function, to be ordered. */
struct loose {
    uint32_t section; /* joined; UINT32_MAX = none */
    uint64_t key;
    struct join_entity *entity;
};

struct text join_own_name(const struct join *join, const struct join_entity *entity)
{
    return entity->listed == JOIN_NONE ? entity->name : join->symbols[entity->listed].own_name;
}

/* An assembler may name an object after its function, "f$ml0123$tile"; the object gets the
 * function's own name back, too. So many places are tried as the end of the function's name. */
#define MOST_ENDS 8

static struct text own_object_name(struct join *join, const struct join_entity *entity)
{
    struct text name = join_own_name(join, entity);

    if (entity->listed != JOIN_NONE)
        return name;
    for (size_t i = 1, ends = 0; i < name.size && ends < MOST_ENDS; i++) {
        uint32_t listed;

        if (name.data[i] != '$')
            continue;
        ends++;
        listed = table_find(&join->listed, (struct text){name.data, i});
        if (listed == TABLE_NONE ||
            text_equal(join->symbols[listed].name, join->symbols[listed].own_name))
            continue;
        return text_of(arena_printf(&join->out->arena, "%.*s%.*s",
                                    TEXT_ARG(join->symbols[listed].own_name),
                                    TEXT_ARG(text_drop(name, i))));
    }
    return name;
}

uint8_t join_own_binding(const struct join *join, const struct join_entity *entity)
{
    static const uint8_t bindings[] = {
        [CHUNK_LOCAL] = STB_LOCAL, [CHUNK_GLOBAL] = STB_GLOBAL, [CHUNK_WEAK] = STB_WEAK};

    return entity->listed == JOIN_NONE || entity->state == JOIN_UNDEFINED
               ? entity->source->binding
               : bindings[join->symbols[entity->listed].binding];
}

static void add_section_symbols(struct join *join)
{
    struct cubin *out = join->out;

    for (size_t i = 1; i < out->section_count; i++) {
        if (!join->origins[i].wants_symbol)
            continue;
        join->origins[i].symbol = (uint32_t)out->symbol_count;
        out->symbols[out->symbol_count++] = (struct cubin_symbol){.name = out->sections[i].name,
                                                                  .type = STT_SECTION,
                                                                  .binding = STB_LOCAL,
                                                                  .section = (uint32_t)i};
    }
}

/* The joined section of an entity's definition. */
static uint32_t joined_section_of(const struct join_entity *entity)
{
    return entity->section ? entity->section->joined : entity->source->section;
}

static void add_entity_row(struct join *join, struct join_entity *entity, uint8_t binding)
{
    if (entity->index || join_own_binding(join, entity) != binding)
        return;
    entity->index = (uint32_t)join->out->symbol_count;
    join->out->symbols[join->out->symbol_count++] =
        (struct cubin_symbol){.name = own_object_name(join, entity),
                              .value = entity->value,
                              .size = entity->size,
                              .type = entity->source->type,
                              .binding = binding,
                              .other = entity->source->other,
                              .section = joined_section_of(entity)};
}

/* Adds the functions and the symbols in their sections. */
static void add_functions(struct join *join, uint8_t binding)
{
    for (size_t f = 0; f < join->function_count; f++) {
        const struct join_section *text = join->functions[f];

        add_entity_row(join, text->entity, binding);
        for (const struct join_section *s = text; s; s = s->next_owned)
            for (uint32_t i = s->first_object; i; i = s->input->next_object[i])
                if (join_is_first(s->input, i))
                    add_entity_row(join, s->input->entities[i], binding);
    }
}

/* True for an entity that is in no function's section and that the result needs. */
static bool is_loose(const struct join_entity *entity)
{
    const struct join_section *section = entity->section;

    if (join_is_dropped(entity))
        return false;
    if (entity->name.size == 0 && entity->user == JOIN_NONE && !entity->used_by_data)
        return false; /* ptxas leaves unreferenced nameless symbols behind */
    return !section || (!section->text && section->joined != 0);
}

COMPARISON(compare_loose, struct loose,
           COMPARE(a->section, b->section) ?: COMPARE(a->key, b->key)
               ?: text_compare(a->entity->name, b->entity->name) ?: COMPARE(a->entity, b->entity));

static struct loose *find_loose(struct join *join, size_t *count)
{
    struct loose *list = arena_alloc(&join->arena, join->entity_count, sizeof *list);

    *count = 0;
    for (size_t i = 0; i < join->entity_count; i++) {
        struct join_entity *e = &join->entities[i];
        uint32_t section = joined_section_of(e);
        bool is_placed = section != SHN_UNDEF && section < SHN_LORESERVE;
        bool is_shared = is_placed && join->out->sections[section].type == SHT_CUDA_SHARED;

        if (!is_loose(e))
            continue;
        list[(*count)++] = (struct loose){
            .section = is_placed ? section : UINT32_MAX,
            .key = is_placed && !is_shared      ? e->value
                   : e->state == JOIN_UNDEFINED ? UINT64_MAX
                                                : e->listed,
            .entity = e,
        };
    }
    SORT(list, *count, compare_loose);
    return list;
}

/* Finds the joined symbol of each symbol of a chunk. */
static void map_chunk_symbols(struct join *join, struct join_input *input)
{
    input->joined = arena_zalloc(&join->arena, input->cubin->symbol_count, sizeof(uint32_t));
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        const struct join_section *section = join_section_of(input, i);

        if (input->entities[i])
            input->joined[i] = input->entities[i]->index;
        else if (section)
            input->joined[i] = join->origins[section->joined].symbol;
    }
}

void join_make_symbols(struct join *join)
{
    static const uint8_t bindings[] = {STB_LOCAL, STB_WEAK, STB_GLOBAL};
    struct cubin *out = join->out;
    struct cubin_section *symtab = &out->sections[out->symtab];
    struct loose *loose;
    size_t count;

    out->symbols = arena_zalloc(&out->arena, 1 + out->section_count + join->entity_count,
                                sizeof *out->symbols);
    out->symbol_count = 1;
    add_section_symbols(join);
    loose = find_loose(join, &count);
    for (size_t pass = 0; pass < sizeof bindings; pass++) {
        if (bindings[pass] == STB_GLOBAL)
            symtab->info = (uint32_t)out->symbol_count;
        add_functions(join, bindings[pass]);
        for (size_t i = 0; i < count; i++)
            add_entity_row(join, loose[i].entity, bindings[pass]);
    }
    symtab->size = out->symbol_count * symtab->entry_size;
    for (size_t i = 0; i < join->count; i++)
        map_chunk_symbols(join, &join->inputs[i]);
}
