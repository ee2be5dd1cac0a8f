/* parse_label.c: labels are used before they are defined and belong to the innermost braces around
 * them, so uses are only noted while the body is read. At its end all scopes and uses are replayed
 * in the text's order, with all labels of a scope known from its start. This takes linear time for
 * any nesting. */
#include "language/parser.h"

#include "base/context.h"
#include "language/opcode.h"

#define FORGOTTEN (NO_INDEX - 1)

static void add_event(struct body_parser *parser, enum label_event_kind kind, uint32_t index)
{
    struct labels *labels = &parser->labels;

    ARENA_PUSH(parser->body->arena, labels->events, labels->event_count, labels->event_capacity) =
        (struct label_event){(uint8_t)kind, index};
}

void parse_label_open(struct body_parser *parser)
{
    struct labels *labels = &parser->labels;

    ARENA_PUSH(parser->body->arena, labels->open, labels->open_count, labels->open_capacity) =
        (uint32_t)labels->event_count;
    add_event(parser, EVENT_OPEN, NO_INDEX);
}

void parse_label_close(struct body_parser *parser)
{
    struct labels *labels = &parser->labels;

    add_event(parser, EVENT_CLOSE, labels->open[--labels->open_count]);
}

uint32_t parse_label_define(struct body_parser *parser, struct text name, size_t offset)
{
    struct body *body = parser->body;
    struct labels *labels = &parser->labels;
    uint32_t number = (uint32_t)body->label_count;
    uint32_t scope = labels->open[labels->open_count - 1];
    struct label_place place = {offset, labels->events[scope].index, NO_INDEX, scope};

    ARENA_PUSH(body->arena, body->labels, body->label_count, parser->label_capacity) =
        (struct label){.name = name, .instruction = (uint32_t)body->instruction_count};
    ARENA_PUSH(parser->body->arena, labels->places, labels->place_count, labels->place_capacity) =
        place;
    labels->events[scope].index = number;
    return number;
}

uint32_t parse_label_use(struct body_parser *parser, struct text name, size_t offset)
{
    struct labels *labels = &parser->labels;

    add_event(parser, EVENT_USE, (uint32_t)labels->use_count);
    ARENA_PUSH(parser->body->arena, labels->uses, labels->use_count, labels->use_capacity) =
        (struct label_use){name, offset, NO_INDEX};
    return (uint32_t)(labels->use_count - 1);
}

/* The scope's labels are chained newest first: of two with the same name the later one is entered
 * first, and is the one to report. */
static void replay_open(struct body_parser *parser, struct table *known, uint32_t scope)
{
    struct labels *labels = &parser->labels;

    for (uint32_t i = labels->events[scope].index; i != NO_INDEX; i = labels->places[i].next) {
        struct text name = parser->body->labels[i].name;
        uint32_t older = table_find(known, name);

        if (older == TABLE_NONE)
            older = FORGOTTEN;
        if (older != FORGOTTEN && labels->places[older].scope == scope) {
            parse_error(parser, labels->places[older].offset, "Label '%.*s' is defined twice",
                        TEXT_ARG(name));
            older = labels->places[older].hidden;
        }
        labels->places[i].hidden = older;
        table_set(known, name, i);
    }
}

static void replay_close(struct body_parser *parser, struct table *known, uint32_t scope)
{
    struct labels *labels = &parser->labels;

    for (uint32_t i = labels->events[scope].index; i != NO_INDEX; i = labels->places[i].next)
        table_set(known, parser->body->labels[i].name, labels->places[i].hidden);
}

static void replay_use(struct body_parser *parser, struct table *known, struct label_use *use)
{
    uint32_t found = table_find(known, use->name);

    if (found == TABLE_NONE || found == FORGOTTEN)
        parse_error(parser, use->offset, "Label '%.*s' is not defined here", TEXT_ARG(use->name));
    else
        use->label = found;
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
            parse_error(parser, use->offset,
                        is_table ? "Label '%.*s' has no table of targets or prototype"
                                 : "Label '%.*s' is a table, not a place in the code",
                        TEXT_ARG(use->name));
    }
}

void parse_label_resolve(struct body_parser *parser)
{
    struct labels *labels = &parser->labels;
    struct body *body = parser->body;
    struct table known = {0};

    CONTEXT_DEFER(table_cleanup, &known);
    for (size_t i = 0; i < labels->event_count && parser->base.errors < PARSE_ERROR_LIMIT; i++) {
        struct label_event event = labels->events[i];

        if (event.kind == EVENT_OPEN)
            replay_open(parser, &known, (uint32_t)i);
        else if (event.kind == EVENT_CLOSE)
            replay_close(parser, &known, event.index);
        else
            replay_use(parser, &known, &labels->uses[event.index]);
    }
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
