/* parse_names.c: finds names in nested blocks.
 *
 * One table holds, for each name, its innermost declaration; a declaration has the index of the one
 * that it hides, and closing a scope restores those. So a lookup takes a few probes, and closing is
 * linear in the scope's declarations. Ranges (%r<7>) are found by the name without its digits, and
 * apply if they are in a deeper scope than the declaration of the whole name.
 *
 * Labels are used before they are defined and belong to the innermost braces around them: when a
 * block ends, each of its labels takes those uses of its name since the block began that no block
 * inside has taken. This takes linear time for any nesting. */
#include "language/internal.h"

/* Marks a name whose scopes are all closed, since entries cannot be removed from tables. */
#define FORGOTTEN (NO_INDEX - 1)

/* Adds a declaration of a name that is not declared at this depth or deeper. The result is valid
 * until the next call. */
static const struct declaration *enter(struct body_parser *parser, struct text name,
                                       enum declaration_kind kind, size_t index, uint32_t depth)
{
    struct names *names = &parser->names;
    struct table *table = kind == DECLARED_RANGE ? &names->ranges : &names->words;
    uint32_t found = table_find(table, name);
    uint32_t number = (uint32_t)names->declaration_count;

    ARENA_PUSH(parser->body->arena, names->declarations, names->declaration_count,
               names->declaration_capacity) =
        (struct declaration){.name = name,
                             .kind = (uint8_t)kind,
                             .index = (uint32_t)index,
                             .depth = depth,
                             .hidden = found == TABLE_NONE ? NO_INDEX : found,
                             .next = names->scopes[depth].declaration};
    names->scopes[depth].declaration = number;
    table_set(table, name, number);
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
        (struct scope){NO_INDEX, NO_INDEX, (uint32_t)parser->labels.use_count};
}

void parse_names_close(struct body_parser *parser)
{
    struct names *names = &parser->names;
    uint32_t number = names->scopes[--names->scope_count].declaration;

    while (number != NO_INDEX) {
        const struct declaration *entry = &names->declarations[number];
        struct table *table = entry->kind == DECLARED_RANGE ? &names->ranges : &names->words;

        table_set(table, entry->name, entry->hidden == NO_INDEX ? FORGOTTEN : entry->hidden);
        number = entry->next;
    }
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

/* The innermost range of this prefix with `number`. PARSE_DEEPEST_BLOCK bounds the walk. */
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

/* False if the name is taken. */
static bool declare(struct body_parser *parser, struct text name, enum declaration_kind kind,
                    size_t index)
{
    struct names *names = &parser->names;
    bool is_range = kind == DECLARED_RANGE;
    const struct declaration *older =
        innermost(names, is_range ? &names->ranges : &names->words, name);
    const struct declaration *range = is_range ? NULL : range_of(names, name);
    uint32_t depth = (uint32_t)(names->scope_count - 1);

    if ((older && older->depth == depth) || (range && range->depth == depth))
        return false;
    enter(parser, name, kind, index, depth);
    return true;
}

bool parse_names_register(struct body_parser *parser, const struct virtual_register *model,
                          uint32_t count)
{
    struct names *names = &parser->names;

    if (count == NO_INDEX)
        return declare(parser, model->name, DECLARED_REGISTER, add_register(parser, model));
    ARENA_PUSH(parser->body->arena, names->range_list, names->range_count, names->range_capacity) =
        (struct register_range){count, *model};
    return declare(parser, model->name, DECLARED_RANGE, names->range_count - 1);
}

bool parse_names_symbol(struct body_parser *parser, const struct body_symbol *symbol)
{
    return declare(parser, symbol->name, DECLARED_SYMBOL, add_symbol(parser, symbol));
}

void parse_names_begin(struct body_parser *parser)
{
    struct body *body = parser->body;

    parse_names_open(parser);
    parse_names_open(parser);
    for (size_t i = 0; i < body->register_count + body->symbol_count; i++) {
        bool is_register = i < body->register_count;
        size_t index = is_register ? i : i - body->register_count;
        struct text name = is_register ? body->registers[i].name : body->symbols[index].name;

        if (!declare(parser, name, is_register ? DECLARED_REGISTER : DECLARED_SYMBOL, index))
            parser_report(&parser->base, parser->base.token.offset,
                          "Duplicate definition of variable '%.*s'", TEXT_ARG(name));
    }
}

bool parse_names_find(struct body_parser *parser, struct text name, uint8_t *kind, uint32_t *index)
{
    const struct parse_scope *scope = parser->scope;
    const struct declaration *word = innermost(&parser->names, &parser->names.words, name);
    const struct declaration *range = range_of(&parser->names, name);
    struct body_symbol symbol = {.name = name};

    if (range && (!word || word->depth < range->depth)) {
        struct virtual_register made = parser->names.range_list[range->index].model;

        made.name = name;
        word = enter(parser, name, DECLARED_REGISTER, add_register(parser, &made), range->depth);
    }
    if (!word && scope->lookup && scope->lookup(scope->argument, &symbol))
        word = enter(parser, name, DECLARED_SYMBOL, add_symbol(parser, &symbol), 0);
    if (!word)
        return false;
    *kind = word->kind;
    *index = word->index;
    return true;
}

static uint32_t number_of(struct body_parser *parser, struct text name)
{
    struct labels *labels = &parser->labels;
    uint32_t next = (uint32_t)labels->name_count;
    uint32_t number = table_add(&labels->table, name, next);

    if (number == next)
        ARENA_PUSH(parser->body->arena, labels->names, labels->name_count, labels->name_capacity) =
            (struct label_name){NO_INDEX, NO_INDEX};
    return number;
}

void parse_label_close(struct body_parser *parser)
{
    struct labels *labels = &parser->labels;
    const struct scope block = parser->names.scopes[parser->names.scope_count - 1];

    for (uint32_t i = block.label; i != NO_INDEX; i = labels->places[i].next) {
        struct label_name *name = &labels->names[labels->places[i].name];

        if (name->label != NO_INDEX)
            labels->places[name->label].is_double = true;
        name->label = i;
        while (name->use != NO_INDEX && name->use >= block.first_use) {
            labels->uses[name->use].label = i;
            name->use = labels->uses[name->use].next;
        }
    }
    for (uint32_t i = block.label; i != NO_INDEX; i = labels->places[i].next)
        labels->names[labels->places[i].name].label = NO_INDEX;
}

uint32_t parse_label_define(struct body_parser *parser, struct text name, size_t offset)
{
    struct body *body = parser->body;
    struct labels *labels = &parser->labels;
    struct scope *block = &parser->names.scopes[parser->names.scope_count - 1];
    struct label_place place = {
        .offset = offset, .name = number_of(parser, name), .next = block->label};

    block->label = (uint32_t)body->label_count;
    ARENA_PUSH(body->arena, body->labels, body->label_count, parser->label_capacity) =
        (struct label){.name = name, .instruction = (uint32_t)body->instruction_count};
    ARENA_PUSH(body->arena, labels->places, labels->place_count, labels->place_capacity) = place;
    return block->label;
}

uint32_t parse_label_use(struct body_parser *parser, struct text name, size_t offset)
{
    struct labels *labels = &parser->labels;
    uint32_t use = (uint32_t)labels->use_count;
    uint32_t number = number_of(parser, name);

    ARENA_PUSH(parser->body->arena, labels->uses, labels->use_count, labels->use_capacity) =
        (struct label_use){name, offset, labels->names[number].use, NO_INDEX};
    labels->names[number].use = use;
    return use;
}

/* Replaces the numbers of uses by labels. `is_table`: they must be tables, else plain labels. */
static void patch(struct body_parser *parser, struct operand *operands, uint32_t count,
                  bool is_table)
{
    const struct label *labels = parser->body->labels;

    for (uint32_t i = 0; i < count; i++) {
        const struct label_use *use;

        if (operands[i].kind != OPERAND_LABEL && operands[i].kind != OPERAND_NAME)
            continue;
        use = &parser->labels.uses[operands[i].label];
        operands[i].label = use->label;
        if (use->label != NO_INDEX &&
            is_table != (labels[use->label].targets || labels[use->label].prototype))
            parser_report(&parser->base, use->offset,
                          is_table ? "Label '%.*s' has no table of targets or prototype"
                                   : "Label '%.*s' is a table, not a place in the code",
                          TEXT_ARG(use->name));
    }
}

void parse_label_resolve(struct body_parser *parser)
{
    struct labels *labels = &parser->labels;
    struct body *body = parser->body;

    for (; parser->names.scope_count; parse_names_close(parser))
        parse_label_close(parser);
    for (size_t i = labels->place_count; i-- > 0;)
        if (labels->places[i].is_double)
            parser_report(&parser->base, labels->places[i].offset, "Label '%.*s' is defined twice",
                          TEXT_ARG(body->labels[i].name));
    for (size_t i = 0; i < labels->use_count; i++)
        if (labels->uses[i].label == NO_INDEX)
            parser_report(&parser->base, labels->uses[i].offset, "Label '%.*s' is not defined here",
                          TEXT_ARG(labels->uses[i].name));
    for (size_t i = 0; i < body->instruction_count; i++) {
        struct instruction *instruction = &body->instructions[i];
        unsigned flags = opcode_get(instruction->opcode)->flags;

        if (flags & (OPCODE_BRANCH | OPCODE_CALL | OPCODE_INDEXED))
            patch(parser, instruction->operands, instruction->operand_count,
                  !(flags & OPCODE_BRANCH));
    }
    for (size_t i = 0; i < body->label_count; i++)
        patch(parser, body->labels[i].targets, body->labels[i].target_count, false);
}
