/* join_resolve.c: maps the chunks' symbols to entities of the program.
 *
 * A global or weak name means the same in every chunk, and so does the name of a variable that the
 * splitter lists. Every other local symbol is an entity of its own at first; copies of local
 * functions are folded later. */
#include "join/join_plan.h"

#include "base/context.h"
#include "diag/diag.h"

static enum join_state definition_state(const struct cubin_symbol *symbol)
{
    if (symbol->section == SHN_UNDEF)
        return JOIN_UNDEFINED;
    if (symbol->section == SECTION_COMMON)
        return JOIN_COMMON;
    return symbol->binding == STB_WEAK ? JOIN_WEAK : JOIN_DEFINED;
}

static uint32_t add_entity(struct join *join, uint32_t cubin, uint32_t symbol)
{
    const struct cubin_symbol *source = &join->inputs[cubin].cubin->symbols[symbol];

    join->entities[join->entity_count] = (struct join_entity){
        .name = source->name,
        .state = definition_state(source),
        .cubin = cubin,
        .symbol = symbol,
        .listed = table_find(&join->listed, source->name),
        .folded = JOIN_NONE,
        .group = JOIN_NONE,
        .user = JOIN_NONE,
        .is_local = source->binding == STB_LOCAL,
        .value = source->value,
        .size = source->size,
    };
    return (uint32_t)join->entity_count++;
}

static bool is_shared_symbol(const struct cubin_symbol *symbol)
{
    return (symbol->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
}

/* Adds one more symbol of the same name to an entity. */
static bool add_namesake(struct join *join, struct join_entity *entity, uint32_t cubin,
                         uint32_t symbol)
{
    const struct cubin_symbol *source = &join->inputs[cubin].cubin->symbols[symbol];
    enum join_state state = definition_state(source);

    if (state == JOIN_DEFINED && entity->state == JOIN_DEFINED &&
        !(is_shared_symbol(source) && source->binding == STB_LOCAL))
        return diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'",
                          TEXT_ARG(source->name), join->inputs[cubin].cubin->name,
                          join->inputs[entity->cubin].cubin->name);
    if (state == JOIN_COMMON && entity->state == JOIN_COMMON) {
        if (source->size > entity->size)
            entity->size = source->size;
        if (source->value > entity->value)
            entity->value = source->value;
        return true;
    }
    if (state <= entity->state)
        return true;
    entity->state = state;
    entity->cubin = cubin;
    entity->symbol = symbol;
    entity->is_local = source->binding == STB_LOCAL;
    entity->value = source->value;
    entity->size = source->size;
    return true;
}

/* True if the name alone identifies what the symbol stands for. */
static bool is_known_by_name(const struct join *join, const struct cubin_symbol *symbol)
{
    if (symbol->binding != STB_LOCAL || symbol->section == SHN_UNDEF)
        return true;
    /* A kernel's parameter, even if something else has its name. */
    if (format_is_reference(symbol->type))
        return false;
    return symbol->type != STT_FUNC && table_find(&join->listed, symbol->name) != TABLE_NONE;
}

/* Lists the symbols defined in each section, in ascending order. */
static void list_objects(struct join *join, struct join_input *input)
{
    const struct cubin *cubin = input->cubin;

    input->next_object =
        arena_zalloc(&join->arena, cubin->symbol_count, sizeof *input->next_object);
    for (uint32_t i = (uint32_t)cubin->symbol_count - 1; i > 0; i--) {
        struct join_section *section = join_section_of(input, i);

        if (input->entities[i] == JOIN_NONE || !section)
            continue;
        input->next_object[i] = section->first_object;
        section->first_object = i;
    }
}

static bool resolve_symbols(struct join *join, struct table *names, uint32_t cubin)
{
    struct join_input *input = &join->inputs[cubin];
    bool ok = true;

    input->entities =
        arena_alloc(&join->arena, input->cubin->symbol_count, sizeof *input->entities);
    input->entities[0] = JOIN_NONE;
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &input->cubin->symbols[i];
        uint32_t entity = JOIN_NONE;
        struct join_section *section = join_section_of(input, i);
        uint32_t known;

        if (symbol->type == STT_SECTION) {
            if (section)
                section->has_symbol = true;
        } else if (!is_known_by_name(join, symbol)) {
            entity = add_entity(join, cubin, i);
        } else {
            known = table_add(names, symbol->name, (uint32_t)join->entity_count);
            if (known < join->entity_count) {
                ok = add_namesake(join, &join->entities[known], cubin, i) && ok;
                entity = known;
            } else {
                entity = add_entity(join, cubin, i);
                join->entities[entity].is_by_name = true;
            }
        }
        input->entities[i] = entity;
    }
    return ok;
}

/* The code section that a section belongs to: itself, or the target of its sh_info, or for
 * relocations of a function's constants the owner of the constants. Mercury's twin of code names
 * its function instead. */
static struct join_section *find_code(const struct join *join, struct join_section *section)
{
    const struct join_input *input = section->input;

    for (int steps = 0; steps < 4; steps++) {
        const struct cubin_section *s = section->source;

        if (cubin_is_text(s))
            return section;
        if (cubin_is_mercury(s) && !join->has_mercury)
            return NULL;
        if (s->type == SHT_CUDA_CAPMERC)
            return join_section_of(input, s->info);
        if (!(s->flags & SHF_INFO_LINK) && s->type != SHT_REL && s->type != SHT_RELA)
            return NULL;
        section = &input->sections[s->info];
    }
    return NULL;
}

/* Finds the sections of each function. Each code section begins the list of its own sections, in
 * ascending order. */
static void own_function_sections(struct join *join)
{
    for (size_t i = join->section_count; i-- > 0;) {
        struct join_section *s = &join->sections[i];
        uint32_t type = s->source->type;

        s->text = find_code(join, s);
        if (format_is_relocations(type))
            s->target = &s->input->sections[s->source->info];
        if (!cubin_is_mercury(s->source)) {
            s->relocations = s->source->relocations;
            s->relocation_count = s->source->relocation_count;
        }
        if (s->target && s->source->size && (type != SHT_CUDA_MERC_RELA || join->has_mercury)) {
            s->next_relocations = s->target->first_relocations;
            s->target->first_relocations = s;
        }
        if (s->text && s->text != s) {
            s->next_owned = s->text->next_owned;
            s->text->next_owned = s;
        }
    }
}

static void read_function_records(struct join *join, struct join_input *input,
                                  const struct cubin_section *section)
{
    struct bytes rest = section->data;
    struct bytes before = rest;
    struct info_record record;

    while (info_next(&rest, &record)) {
        ARENA_PUSH(&join->arena, input->records, input->record_count, input->record_capacity) =
            (struct join_record){
                .raw = {before.data, before.size - rest.size},
                .symbol = info_symbol_words(&record) ? info_word(record.payload, 0) : 0,
                .next = JOIN_NONE,
            };
        before = rest;
    }
}

/* Splits .nv.info into records and lists them by symbol, in their order. */
static void index_records(struct join *join, struct join_input *input)
{
    const struct cubin *cubin = input->cubin;

    input->first_record =
        arena_alloc(&join->arena, cubin->symbol_count, sizeof *input->first_record);
    memset(input->first_record, 0xff, cubin->symbol_count * sizeof *input->first_record);
    for (size_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_CUDA_INFO && !input->sections[i].text)
            read_function_records(join, input, &cubin->sections[i]);
    for (size_t i = input->record_count; i-- > 0;) {
        struct join_record *record = &input->records[i];

        if (record->symbol == 0)
            continue;
        record->next = input->first_record[record->symbol];
        input->first_record[record->symbol] = (uint32_t)i;
    }
}

/* Measured: kernels stay in EXTERNS records wherever they are defined. */
static void find_bound(struct join *join, struct join_input *input)
{
    input->is_bound = arena_zalloc(&join->arena, input->cubin->symbol_count, sizeof(bool));
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        uint32_t entity = input->entities[i];

        input->is_bound[i] = entity != JOIN_NONE &&
                             join->entities[entity].state != JOIN_UNDEFINED &&
                             !(join_definition(join, entity)->other & STO_CUDA_ENTRY);
    }
}

bool join_resolve(struct join *join)
{
    struct table names = {0};
    size_t most = 0;
    bool ok = true;

    CONTEXT_DEFER(table_cleanup, &names);
    for (size_t i = 0; i < join->count; i++)
        most += join->inputs[i].cubin->symbol_count;
    join->entities = arena_alloc(&join->arena, most, sizeof *join->entities);
    own_function_sections(join);
    for (size_t i = 0; i < join->count; i++) {
        index_records(join, &join->inputs[i]);
        ok = resolve_symbols(join, &names, (uint32_t)i) && ok;
        list_objects(join, &join->inputs[i]);
    }
    for (size_t i = 0; i < join->count; i++)
        find_bound(join, &join->inputs[i]);
    return ok;
}
