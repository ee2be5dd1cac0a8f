/* parse.c: a function's body, statement by statement.
 *
 * A statement is a block, a label, a directive or an instruction; after an error the rest of the
 * statement is skipped, so that one run reports all errors, up to a limit. Registers and variables
 * must be declared before use; labels need not be. */
#include "language/parser.h"

#include "base/context.h"
#include "base/memory.h"

/* @p or @!p */
static bool parse_guard(struct body_parser *parser, struct instruction *instruction)
{
    size_t place;
    struct text name;
    uint8_t kind = DECLARED_SYMBOL;

    parser_next(&parser->base);
    instruction->guard_negated = parse_at(parser, '!');
    if (instruction->guard_negated)
        parser_next(&parser->base);
    place = parser->base.token.offset;
    name = parse_text(parser);
    if (parser->base.token.kind != TOKEN_WORD ||
        !parse_names_find(parser, name, &kind, &instruction->guard))
        return parse_error(parser, place, "Predicate '%.*s' is not declared", TEXT_ARG(name));
    if (kind != DECLARED_REGISTER ||
        parser->body->registers[instruction->guard].class != REGISTER_PREDICATE)
        return parse_error(parser, place, "Guard '%.*s' is no predicate", TEXT_ARG(name));
    parser_next(&parser->base);
    return true;
}

/* Builds the instruction in place; it is counted when it is complete. */
static bool parse_instruction(struct body_parser *parser)
{
    struct body *body = parser->body;
    struct instruction *instruction;

    instruction = &ARENA_PUSH(body->arena, body->instructions, body->instruction_count,
                              parser->instruction_capacity);
    body->instruction_count--;
    *instruction = (struct instruction){.guard = NO_INDEX, .loc = parser->location};
    if (parse_at(parser, '@') && !parse_guard(parser, instruction))
        return false;
    parser->base.line = instruction->line = parser_line(&parser->base);
    parser->base.counted = parser->base.token.offset;
    if (!parse_spelling(parser, instruction) || !parse_operands(parser, instruction) ||
        !parse_expect(parser, ';', "behind the instruction"))
        return false;
    body->instruction_count++;
    return true;
}

static bool parse_label(struct body_parser *parser)
{
    uint32_t label = parse_label_define(parser, parse_text(parser), parser->base.token.offset);

    parser_next(&parser->base);
    parser_next(&parser->base); /* the colon */
    return parser->base.token.kind != TOKEN_DOT || parse_declare_table(parser, label);
}

/* At the limit, reports an error that ends the parsing. */
static void open_block(struct body_parser *parser)
{
    if (parser->names.scope_count > PARSE_DEEPEST_BLOCK &&
        parser->base.errors < PARSE_ERROR_LIMIT) {
        parse_error(parser, parser->base.token.offset, "Blocks are nested too deeply");
        parser->base.errors = PARSE_ERROR_LIMIT;
    }
    parse_names_open(parser);
    parse_label_open(parser);
}

/* After an error: skips to after the next semicolon, or to the brace that closes the block. Braces
 * on the way are a vector's, or a block's if there is a semicolon inside them. */
static void skip_statement(struct body_parser *parser)
{
    size_t braces = 0;

    parser->operand_count = 0;
    while (parser->base.token.kind != TOKEN_END && !parse_at(parser, ';')) {
        if (parse_at(parser, '{'))
            braces++;
        else if (parse_at(parser, '}') && braces-- == 0)
            return;
        parser_next(&parser->base);
    }
    for (; braces && parser->base.errors < PARSE_ERROR_LIMIT; braces--)
        open_block(parser);
}

static bool parse_statement(struct body_parser *parser)
{
    if (parser->base.token.kind == TOKEN_WORD && lexer_peek(&parser->base.lexer).mark == ':')
        return parse_label(parser);
    if (parser->base.token.kind == TOKEN_DOT)
        return parse_declare(parser);
    return parse_instruction(parser);
}

/* Parses everything up to the brace that closes the body. */
static void parse_block(struct body_parser *parser)
{
    parse_label_open(parser);
    parser_next(&parser->base);
    while (parser->labels.open_count && parser->base.errors < PARSE_ERROR_LIMIT) {
        if (parse_at(parser, '{')) {
            open_block(parser);
            parser_next(&parser->base);
        } else if (parse_at(parser, '}')) {
            parse_names_close(parser);
            parse_label_close(parser);
            parser_next(&parser->base);
        } else if (parse_at(parser, ';')) {
            parser_next(&parser->base);
        } else if (parser->base.token.kind == TOKEN_END) {
            parse_error(parser, parser->base.token.offset, "'}' is missing at the end of the body");
            return;
        } else if (!parse_statement(parser)) {
            skip_statement(parser);
        }
    }
}

bool parse_body(struct body *body, struct text text, const struct parse_scope *scope)
{
    size_t start = (size_t)(text.data - scope->whole.data);
    struct text until = {scope->whole.data, start + text.size};
    struct ptx_module module = {.file = scope->file, .whole = scope->whole};
    struct body_parser parser = {.base = {.lexer = lexer_at(until, start),
                                          .arena = body->arena,
                                          .module = &module,
                                          .counted = start,
                                          .line = scope->first_line,
                                          .is_body = true,
                                          .numbered = start},
                                 .body = body,
                                 .scope = scope,
                                 .register_capacity = body->register_count,
                                 .symbol_capacity = body->symbol_count};

    CONTEXT_DEFER(memory_cleanup, &parser.base.items);
    CONTEXT_DEFER(memory_cleanup, &parser.base.parameters);
    CONTEXT_DEFER(table_cleanup, &parser.names.ranges);
    CONTEXT_DEFER(table_cleanup, &parser.names.words);
    CONTEXT_DEFER(table_cleanup, &parser.labels.table);
    parser_next(&parser.base);
    if (!parse_names_begin(&parser))
        return false;
    if (!parse_at(&parser, '{')) {
        parse_error(&parser, parser.base.token.offset, "A body begins with '{', not '%.*s'",
                    TEXT_ARG(parse_text(&parser)));
    } else {
        parse_block(&parser);
        if (parser.base.errors == 0 && parser.base.token.kind != TOKEN_END)
            parse_error(&parser, parser.base.token.offset, "'%.*s' stands behind the body",
                        TEXT_ARG(parse_text(&parser)));
    }
    if (parser.base.errors < PARSE_ERROR_LIMIT)
        parse_label_resolve(&parser);
    return parser.base.errors == 0;
}
