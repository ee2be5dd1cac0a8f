/* parse_label.c: labels are used before they are defined and belong to the innermost braces around
 * them: when a block ends, each of its labels takes those uses of its name since the block began
 * that no block inside has taken. This takes linear time for any nesting. */
#include "language/parser.h"

#include "language/opcode.h"

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
