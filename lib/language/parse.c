/* parse.c: a function's body, statement by statement.
 *
 * A statement is a block, a label, a directive or an instruction; after an error the rest of the
 * statement is skipped, so that one run reports all errors, up to a limit. Registers and variables
 * must be declared before use; labels need not be. */
#include "language/parser.h"

#include "base/context.h"
#include "base/memory.h"

/* @p or @!p */
static void parse_guard(struct body_parser *parser, struct instruction *instruction)
{
    struct parser *base = &parser->base;
    uint8_t kind = DECLARED_SYMBOL;
    size_t place;
    struct text name;

    parser_next(base);
    instruction->guard_negated = parser_skip(base, '!');
    place = base->token.offset;
    name = parse_text(parser);
    if (base->token.kind != TOKEN_WORD ||
        !parse_names_find(parser, name, &kind, &instruction->guard))
        parser_fail(base, place, "Predicate '%.*s' is not declared", TEXT_ARG(name));
    else if (kind != DECLARED_REGISTER ||
             parser->body->registers[instruction->guard].class != REGISTER_PREDICATE)
        parser_fail(base, place, "Guard '%.*s' is no predicate", TEXT_ARG(name));
    parser_next(base);
}

/* Builds the instruction in place; it is counted when it is complete. */
static void parse_instruction(struct body_parser *parser)
{
    struct body *body = parser->body;
    struct instruction *instruction;

    instruction = &ARENA_PUSH(body->arena, body->instructions, body->instruction_count,
                              parser->instruction_capacity);
    body->instruction_count--;
    *instruction = (struct instruction){.guard = NO_INDEX};
    if (parse_at(parser, '@'))
        parse_guard(parser, instruction);
    parser->base.line = instruction->line = parser_line(&parser->base);
    parser->base.counted = parser->base.token.offset;
    parse_spelling(parser, instruction);
    parse_operands(parser, instruction);
    parser_mark(&parser->base, ';');
    body->instruction_count += !parser->base.failed;
}

static void parse_label(struct body_parser *parser)
{
    uint32_t label = parse_label_define(parser, parse_text(parser), parser->base.token.offset);

    parser_next(&parser->base);
    parser_next(&parser->base); /* the colon */
    if (parser->base.token.kind == TOKEN_DOT)
        parse_declare_table(parser, label);
}

/* At the limit, reports an error that ends the parsing. */
static void open_block(struct body_parser *parser)
{
    if (parser->names.scope_count > PARSE_DEEPEST_BLOCK &&
        parser->base.errors < PARSER_MOST_ERRORS) {
        parser_report(&parser->base, parser->base.token.offset, "Blocks are nested too deeply");
        parser->base.errors = PARSER_MOST_ERRORS;
    }
    parse_names_open(parser);
}

/* After an error: skips to after the next semicolon, or to the brace that closes the block. Braces
 * on the way are a vector's, or a block's if there is a semicolon inside them. */
static void skip_statement(struct body_parser *parser)
{
    size_t braces = 0;

    parser->operand_count = 0;
    parser_recover(&parser->base);
    while (parser->base.token.kind != TOKEN_END && !parse_at(parser, ';')) {
        if (parse_at(parser, '{'))
            braces++;
        else if (parse_at(parser, '}') && braces-- == 0)
            return;
        parser_next(&parser->base);
    }
    for (; braces && parser->base.errors < PARSER_MOST_ERRORS; braces--)
        open_block(parser);
}

static void parse_statement(struct body_parser *parser)
{
    if (parser->base.token.kind == TOKEN_WORD && lexer_peek(&parser->base.lexer).mark == ':')
        parse_label(parser);
    else if (parser->base.token.kind == TOKEN_DOT)
        parse_declare(parser);
    else
        parse_instruction(parser);
    if (parser->base.failed)
        skip_statement(parser);
}

/* Parses everything up to the brace that closes the body. */
static void parse_block(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    parser_next(base);
    while (parser->names.scope_count > 1 && base->errors < PARSER_MOST_ERRORS) {
        if (parser_skip(base, ';'))
            continue;
        if (parse_at(parser, '{')) {
            open_block(parser);
            parser_next(base);
        } else if (parser_skip(base, '}')) {
            parse_label_close(parser);
            parse_names_close(parser);
        } else if (base->token.kind == TOKEN_END) {
            parser_report(base, base->token.offset, "'}' is missing at the end of the body");
            return;
        } else {
            parse_statement(parser);
        }
    }
}

bool parse_body(struct body *body, struct text text, const struct parse_scope *scope)
{
    size_t start = (size_t)(text.data - scope->whole.data);
    struct text until = {scope->whole.data, start + text.size};
    struct ptx_module module = {.file = scope->file, .whole = scope->whole};
    struct body_parser parser = {.base = {.lexer = lexer_at(until, start),
                                          .arena = body->declared,
                                          .module = &module,
                                          .counted = start,
                                          .line = scope->first_line,
                                          .is_body = true,
                                          .function = body->function,
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
    parse_names_begin(&parser);
    if (parser.base.errors)
        return false;
    if (parse_at(&parser, '{'))
        parse_block(&parser);
    else
        parser_report(&parser.base, parser.base.token.offset, "A body begins with '{', not '%.*s'",
                      TEXT_ARG(parse_text(&parser)));
    if (parser.base.errors == 0 && parser.base.token.kind != TOKEN_END)
        parser_report(&parser.base, parser.base.token.offset, "'%.*s' stands behind the body",
                      TEXT_ARG(parse_text(&parser)));
    if (parser.base.errors < PARSER_MOST_ERRORS)
        parse_label_resolve(&parser);
    return parser.base.errors == 0;
}
