/* join_resolve.c: maps the chunks' symbols to entities of the program, and orders its functions.
 *
 * A global or weak name means the same in every chunk, and so does the name of a variable that the
 * splitter lists. Every other local symbol is an entity of its own at first; copies of local
 * functions are folded later.
 *
 * Functions that the splitter lists stand in its order; helpers that the assembler made follow the
 * first function that refers to them. */
#include "base/context.h"
#include "base/search.h"
#include "diag/diag.h"
#include "join/internal.h"

static enum join_state definition_state(const struct cubin_symbol *symbol)
{
    if (symbol->section == SHN_UNDEF)
        return JOIN_UNDEFINED;
    if (symbol->section == SECTION_COMMON)
        return JOIN_COMMON;
    return symbol->binding == STB_WEAK ? JOIN_WEAK : JOIN_DEFINED;
}

/* Makes the symbol the entity's definition that is kept, or the mention of it. */
static void define_entity(struct join_entity *entity, struct join_input *input, uint32_t symbol)
{
    const struct cubin_symbol *source = &input->cubin->symbols[symbol];

    entity->state = definition_state(source);
    entity->input = input;
    entity->symbol = symbol;
    entity->source = source;
    entity->section = join_section_of(input, symbol);
    entity->value = source->value;
    entity->size = source->size;
}

static struct join_entity *add_entity(struct join *join, struct join_input *input, uint32_t symbol)
{
    struct join_entity *entity = &join->entities[join->entity_count++];
    struct text name = input->cubin->symbols[symbol].name;

    *entity = (struct join_entity){.name = name,
                                   .listed = table_find(&join->listed, name),
                                   .group = JOIN_NONE,
                                   .user = JOIN_NONE};
    define_entity(entity, input, symbol);
    return entity;
}

/* Adds one more symbol of the same name to an entity. */
static bool add_namesake(struct join_entity *entity, struct join_input *input, uint32_t symbol)
{
    const struct cubin_symbol *source = &input->cubin->symbols[symbol];
    enum join_state state = definition_state(source);

    if (state == JOIN_DEFINED && entity->state == JOIN_DEFINED &&
        !((source->other & STO_CUDA_SPACE) == STO_CUDA_SHARED && source->binding == STB_LOCAL))
        return diag_error("Multiple definition of '%.*s' in '%s', first defined in '%s'",
                          TEXT_ARG(source->name), input->cubin->name, entity->input->cubin->name);
    if (state == JOIN_COMMON && entity->state == JOIN_COMMON) {
        RAISE(entity->size, source->size);
        RAISE(entity->value, source->value);
    } else if (state > entity->state) {
        define_entity(entity, input, symbol);
    }
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

        if (!input->entities[i] || !section)
            continue;
        input->next_object[i] = section->first_object;
        section->first_object = i;
    }
}

static bool resolve_symbols(struct join *join, struct table *names, struct join_input *input)
{
    bool ok = true;

    input->entities =
        arena_zalloc(&join->arena, input->cubin->symbol_count, sizeof *input->entities);
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &input->cubin->symbols[i];
        struct join_section *section = join_section_of(input, i);
        uint32_t known;

        if (symbol->type == STT_SECTION) {
            if (section)
                section->has_symbol = true;
        } else if (!is_known_by_name(join, symbol)) {
            input->entities[i] = add_entity(join, input, i);
        } else {
            known = table_add(names, symbol->name, (uint32_t)join->entity_count);
            input->entities[i] = &join->entities[known];
            if (known < join->entity_count)
                ok = add_namesake(input->entities[i], input, i) && ok;
            else
                add_entity(join, input, i)->is_by_name = true;
        }
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

/* Finds each function's sections. Each code section begins the list of its own, ascending. */
static void own_function_sections(struct join *join)
{
    for (size_t i = join->section_count; i-- > 0;) {
        struct join_section *s = &join->sections[i];
        uint32_t type = s->source->type;

        s->text = find_code(join, s);
        if (format_is_relocations(type))
            s->target = &s->input->sections[s->source->info];
        if (type == SHT_CUDA_MERC_RELA ? join->has_mercury : !cubin_is_mercury(s->source)) {
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

/* Splits .nv.info into records and lists them by symbol, in their order. */
static void index_records(struct join *join, struct join_input *input)
{
    const struct cubin *cubin = input->cubin;

    input->first_record =
        arena_zalloc(&join->arena, cubin->symbol_count, sizeof *input->first_record);
    for (size_t i = 1; i < cubin->section_count; i++) {
        struct bytes rest = cubin->sections[i].data, before = rest;
        struct info_record record;

        if (cubin->sections[i].type != SHT_CUDA_INFO || input->sections[i].text)
            continue;
        for (; info_next(&rest, &record); before = rest)
            ARENA_PUSH(&join->arena, input->records, input->record_count, input->record_capacity) =
                (struct join_record){
                    .raw = {before.data, before.size - rest.size},
                    .input = input,
                    .symbol = info_symbol_words(&record) ? info_word(record.payload, 0) : 0,
                };
    }
    for (size_t i = input->record_count; i-- > 0;) {
        struct join_record *record = &input->records[i];

        if (record->symbol == 0)
            continue;
        record->next = input->first_record[record->symbol];
        input->first_record[record->symbol] = record;
    }
}

/* Measured: kernels stay in EXTERNS records wherever they are defined. */
static void find_bound(struct join *join, struct join_input *input)
{
    input->is_bound = arena_zalloc(&join->arena, input->cubin->symbol_count, sizeof(bool));
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        const struct join_entity *entity = input->entities[i];

        input->is_bound[i] =
            entity && entity->state != JOIN_UNDEFINED && !(entity->source->other & STO_CUDA_ENTRY);
    }
}

bool join_resolve(struct join *join)
{
    LOCAL_TABLE(names);
    size_t most = 0;
    bool ok = true;

    for (size_t i = 0; i < join->count; i++)
        most += join->inputs[i].cubin->symbol_count;
    join->entities = arena_alloc(&join->arena, most, sizeof *join->entities);
    own_function_sections(join);
    for (size_t i = 0; i < join->count; i++) {
        index_records(join, &join->inputs[i]);
        ok = resolve_symbols(join, &names, &join->inputs[i]) && ok;
        list_objects(join, &join->inputs[i]);
    }
    for (size_t i = 0; i < join->count; i++)
        find_bound(join, &join->inputs[i]);
    return ok;
}

/* A reference to a helper. */
struct call {
    uint64_t offset;
    struct join_entity *helper;
};

/* The calls of one function. */
struct calls {
    struct call *list;
    size_t count, capacity;
};

/* Whether its first user places it: local, and not listed. */
static bool is_helper(const struct join_entity *entity)
{
    return entity->source->binding == STB_LOCAL && entity->listed == JOIN_NONE;
}

/* Sets the entity of a chunk's code sections that are kept: the function's, else an alias's. */
static void name_texts(const struct join_input *input)
{
    for (uint32_t i = 1; i < input->cubin->symbol_count; i++) {
        struct join_section *text = join_section_of(input, i);

        if (input->cubin->symbols[i].type == STT_FUNC && text && cubin_is_text(text->source) &&
            join_is_first(input, i) && (!text->entity || (text->source->info & 0xffffffu) == i))
            text->entity = input->entities[i];
    }
}

COMPARISON(compare_texts, struct join_section *,
           COMPARE((*a)->entity->listed, (*b)->entity->listed) ?: COMPARE(*a, *b));

/* The kept code sections, listed ones first, in their order. */
static struct join_section **find_kept(struct join *join, size_t *count)
{
    struct join_section **kept = arena_alloc(&join->arena, join->section_count, sizeof *kept);

    for (size_t i = 0; i < join->count; i++)
        name_texts(&join->inputs[i]);
    *count = 0;
    for (size_t i = 0; i < join->section_count; i++)
        if (join->sections[i].entity)
            kept[(*count)++] = &join->sections[i];
    SORT(kept, *count, compare_texts);
    return kept;
}

COMPARISON(compare_calls, struct call,
           COMPARE(a->offset, b->offset) ?: COMPARE(a->helper, b->helper));

static void append_function(struct join *join, struct join_section *text,
                            struct join_entity *entity)
{
    if (text->function != JOIN_NONE)
        return;
    text->entity = entity;
    text->function = (uint32_t)join->function_count;
    join->functions[join->function_count++] = text;
}

/* Notes the entities that the function at `position` refers to in one relocation section, and
 * gathers its calls of helpers. */
static void scan_references(struct join *join, struct calls *calls, uint32_t position,
                            const struct join_section *list)
{
    const struct cubin_section *s = list->source;

    for (size_t i = 0; i < s->relocation_count; i++) {
        struct join_entity *entity = list->input->entities[s->relocations[i].symbol];

        if (!entity)
            continue;
        if (entity->user == JOIN_NONE)
            entity->user = position;
        if (entity->group != JOIN_NONE && entity->listed == JOIN_NONE)
            ARENA_PUSH(&join->arena, calls->list, calls->count, calls->capacity) =
                (struct call){s->relocations[i].offset, entity};
    }
}

/* Appends the helpers that the functions from `position` on bring with them. */
static void append_helpers(struct join *join, struct calls *calls, size_t position)
{
    for (; position < join->function_count; position++) {
        const struct join_section *s = join->functions[position];

        calls->count = 0;
        while ((s = s->next_owned))
            if (!cubin_is_mercury(s->source))
                scan_references(join, calls, (uint32_t)position, s);
        SORT(calls->list, calls->count, compare_calls);
        for (size_t i = 0; i < calls->count; i++)
            append_function(join, calls->list[i].helper->section, calls->list[i].helper);
    }
}

/* Notes references that do not come from a kept function. */
static void note_other_users(struct join *join)
{
    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *section = &join->sections[i];

        if (cubin_is_mercury(section->source) ||
            (section->text && section->text->function != JOIN_NONE))
            continue;
        for (size_t k = 0; k < section->source->relocation_count; k++) {
            struct join_entity *entity =
                section->input->entities[section->source->relocations[k].symbol];

            if (entity && section->text)
                entity->used_by_copy = true;
            else if (entity)
                entity->used_by_data = true;
        }
    }
}

void join_order(struct join *join)
{
    struct calls calls = {0};
    size_t count;
    struct join_section **kept = find_kept(join, &count);

    join->functions = arena_alloc(&join->arena, join->section_count, sizeof *join->functions);
    /* Helpers are placed by their users first; helpers without references come last. */
    for (int helpers = 0; helpers < 2; helpers++)
        for (size_t i = 0; i < count; i++) {
            size_t position = join->function_count;

            if (is_helper(kept[i]->entity) != (helpers == 1))
                continue;
            append_function(join, kept[i], kept[i]->entity);
            append_helpers(join, &calls, position);
        }
    note_other_users(join);
}
