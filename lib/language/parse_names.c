/* parse_names.c: looks up names in nested scopes.
 *
 * One table holds, for each name, its innermost declaration; a declaration has the index of the one
 * that it hides, and closing a scope restores those. So a lookup takes a few probes, and closing is
 * linear in the scope's declarations. Ranges (%r<7>) are found by the name without its digits, and
 * apply if they are in a deeper scope than the declaration of the whole name. */
#include "language/parser.h"

/* Marks a name whose scopes are all closed, since entries cannot be removed from tables. */
#define FORGOTTEN (NO_INDEX - 1)

static uint32_t depth_of(const struct names *names)
{
    return (uint32_t)(names->scope_count - 1);
}

/* Adds a declaration whose name (in `table`) is not declared at its depth or deeper. The result is
 * valid until the next call. */
static const struct declaration *enter(struct body_parser *parser, struct table *table,
                                       const struct declaration *model)
{
    struct names *names = &parser->names;
    struct declaration entry = *model;
    uint32_t number = (uint32_t)names->declaration_count;
    uint32_t found = table_find(table, entry.name);

    entry.hidden = found == TABLE_NONE ? NO_INDEX : found;
    entry.next = names->scopes[entry.depth];
    names->scopes[entry.depth] = number;
    ARENA_PUSH(parser->body->arena, names->declarations, names->declaration_count,
               names->declaration_capacity) = entry;
    table_set(table, entry.name, number);
    return &names->declarations[number];
}

static struct declaration *innermost(const struct names *names, const struct table *table,
                                     struct text name)
{
    uint32_t found = table_find(table, name);

    return found == TABLE_NONE || found == FORGOTTEN ? NULL : &names->declarations[found];
}

void parse_names_open(struct body_parser *parser)
{
    struct names *names = &parser->names;

    ARENA_PUSH(parser->body->arena, names->scopes, names->scope_count, names->scope_capacity) =
        NO_INDEX;
}

void parse_names_close(struct body_parser *parser)
{
    struct names *names = &parser->names;
    uint32_t number = names->scopes[--names->scope_count];

    while (number != NO_INDEX) {
        const struct declaration *entry = &names->declarations[number];
        struct table *table = entry->kind == DECLARED_RANGE ? &names->ranges : &names->words;

        table_set(table, entry->name, entry->hidden == NO_INDEX ? FORGOTTEN : entry->hidden);
        number = entry->next;
    }
}

static bool enter_given(struct body_parser *parser, struct text name, uint32_t index, uint8_t kind)
{
    struct names *names = &parser->names;
    const struct declaration entry = {
        .name = name, .index = index, .depth = depth_of(names), .kind = kind};

    if (innermost(names, &names->words, name))
        return parse_error(parser, parser->base.token.offset,
                           "Duplicate definition of variable '%.*s'", TEXT_ARG(name));
    enter(parser, &names->words, &entry);
    return true;
}

bool parse_names_begin(struct body_parser *parser)
{
    struct body *body = parser->body;
    bool ok = true;

    parse_names_open(parser);
    parse_names_open(parser);
    for (size_t i = 0; i < body->register_count; i++)
        ok &= enter_given(parser, body->registers[i].name, (uint32_t)i, DECLARED_REGISTER);
    for (size_t i = 0; i < body->symbol_count; i++)
        ok &= enter_given(parser, body->symbols[i].name, (uint32_t)i, DECLARED_SYMBOL);
    return ok;
}

static uint32_t add_register(struct body_parser *parser, const struct virtual_register *model)
{
    struct body *body = parser->body;

    ARENA_PUSH(body->arena, body->registers, body->register_count, parser->register_capacity) =
        *model;
    return (uint32_t)body->register_count - 1;
}

static uint32_t add_symbol(struct body_parser *parser, const struct body_symbol *model)
{
    struct body *body = parser->body;

    ARENA_PUSH(body->arena, body->symbols, body->symbol_count, parser->symbol_capacity) = *model;
    return (uint32_t)body->symbol_count - 1;
}

/* The innermost range of this prefix that includes `number`. PARSE_DEEPEST_BLOCK bounds the walk.
 */
static struct declaration *range_with(const struct names *names, struct text prefix,
                                      uint64_t number)
{
    struct declaration *entry = innermost(names, &names->ranges, prefix);

    while (entry && number >= names->range_list[entry->index].count)
        entry = entry->hidden < FORGOTTEN ? &names->declarations[entry->hidden] : NULL;
    return entry;
}

/* The innermost range that has a register `name`: its digits may begin at several places ("r11" is
 * the first of r1<9> and the eleventh of r<12>), but a number has no leading zero. */
static struct declaration *range_of(const struct names *names, struct text name)
{
    struct declaration *result = NULL;
    uint64_t number = 0, weight = 1;

    for (size_t at = name.size; at > 1 && weight <= UINT32_MAX; at--, weight *= 10) {
        unsigned digit = (unsigned)(name.data[at - 1] - '0');
        struct declaration *entry;

        if (digit > 9)
            break;
        number += digit * weight;
        if (digit == 0 && at != name.size)
            continue;
        entry = range_with(names, (struct text){name.data, at - 1}, number);
        if (entry && (!result || entry->depth > result->depth))
            result = entry;
    }
    return result;
}

static const struct declaration *materialise(struct body_parser *parser, struct text name,
                                             const struct declaration *range)
{
    struct names *names = &parser->names;
    struct virtual_register made = names->range_list[range->index].model;
    struct declaration entry = {.name = name, .depth = range->depth, .kind = DECLARED_REGISTER};

    made.name = name;
    entry.index = add_register(parser, &made);
    return enter(parser, &names->words, &entry);
}

/* The declaration of a name: a register or variable of the body, or a module-level symbol that was
 * met before; NULL = none. */
static const struct declaration *find(struct body_parser *parser, struct text name)
{
    struct names *names = &parser->names;
    const struct declaration *word = innermost(names, &names->words, name);
    const struct declaration *range = range_of(names, name);

    return !range || (word && word->depth >= range->depth) ? word
                                                           : materialise(parser, name, range);
}

static bool is_taken(struct body_parser *parser, struct text name)
{
    const struct declaration *meaning = find(parser, name);

    return meaning && meaning->depth == depth_of(&parser->names);
}

bool parse_names_register(struct body_parser *parser, struct text name, uint32_t count,
                          const struct virtual_register *model)
{
    struct names *names = &parser->names;
    struct declaration entry = {.name = name, .depth = depth_of(names), .kind = DECLARED_REGISTER};
    struct declaration *older;

    if (count == NO_INDEX) {
        if (is_taken(parser, name))
            return false;
        entry.index = add_register(parser, model);
        enter(parser, &names->words, &entry);
        return true;
    }
    older = innermost(names, &names->ranges, name);
    if (older && older->depth == entry.depth)
        return false;
    entry.kind = DECLARED_RANGE;
    entry.index = (uint32_t)names->range_count;
    ARENA_PUSH(parser->body->arena, names->range_list, names->range_count, names->range_capacity) =
        (struct register_range){count, *model};
    enter(parser, &names->ranges, &entry);
    return true;
}

bool parse_names_symbol(struct body_parser *parser, const struct body_symbol *symbol)
{
    struct declaration entry = {
        .name = symbol->name, .depth = depth_of(&parser->names), .kind = DECLARED_SYMBOL};

    if (is_taken(parser, symbol->name))
        return false;
    entry.index = add_symbol(parser, symbol);
    enter(parser, &parser->names.words, &entry);
    return true;
}

bool parse_names_find(struct body_parser *parser, struct text name, uint8_t *kind, uint32_t *index)
{
    const struct parse_scope *scope = parser->scope;
    struct body_symbol symbol = {.name = name};
    struct declaration entry = {.name = name, .kind = DECLARED_SYMBOL};
    const struct declaration *found = find(parser, name);

    if (!found && scope->lookup && scope->lookup(scope->argument, &symbol)) {
        entry.index = add_symbol(parser, &symbol);
        found = enter(parser, &parser->names.words, &entry);
    }
    if (!found)
        return false;
    *kind = found->kind;
    *index = found->index;
    return true;
}
