/* parse.c: a function's body, statement by statement.
 *
 * A statement is a block, a label, a directive or an instruction; after an error the rest of the
 * statement is skipped, so that one run reports all errors, up to a limit. Registers and variables
 * must be declared before use; labels need not be. */
#include "language/internal.h"

/* The bytes from the current token to the first that cannot be part of an opcode or modifier. */
static struct text spelling_at(const struct body_parser *parser)
{
    struct text text = parser->base.lexer.text;
    size_t from = parser->base.token.offset, end = from;

    while (end < text.size && (lexer_continues[(uint8_t)text.data[end]] || text.data[end] == '.' ||
                               text.data[end] == ':'))
        end++;
    return (struct text){text.data + from, end - from};
}

static void parse_modifier(struct body_parser *parser, struct instruction *instruction,
                           uint16_t words[INSTRUCTION_MODIFIERS])
{
    struct text word = parse_text(parser), name = text_drop(word, 1);
    uint16_t modifier = modifier_find(name);

    if (modifier == 0)
        parse_unknown(parser, parser->base.token.offset, "Unknown modifier '%.*s'", word,
                      words_nearest(&modifier_words, name));
    else if (instruction->modifier_count == INSTRUCTION_MODIFIERS)
        parser_fail(&parser->base, parser->base.token.offset,
                    "An instruction has at most %d modifiers", INSTRUCTION_MODIFIERS);
    else
        words[instruction->modifier_count++] = modifier;
    parser_next(&parser->base);
}

/* Fails as no row matches; tells which word is wrong if it is a single one. */
static void report_words(struct body_parser *parser, const struct instruction *instruction,
                         size_t place)
{
    struct parser *base = &parser->base;
    const char *opcode = opcode_get(instruction->opcode)->name;
    uint16_t words[INSTRUCTION_MODIFIERS];
    struct syntax syntax;
    unsigned types = 0;

    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        const char *name = modifier_name(instruction->modifiers[i]);

        types += modifier_type(instruction->modifiers[i])->bits != 0;
        if (!syntax_has_word(instruction->opcode, name))
            parser_fail(base, place, "Illegal modifier '.%s' for instruction '%s'", name, opcode);
    }
    for (unsigned left = 0; left < instruction->modifier_count && !base->failed; left++) {
        unsigned count = 0;

        for (unsigned i = 0; i < instruction->modifier_count; i++)
            if (i != left)
                words[count++] = instruction->modifiers[i];
        if (modifier_type(instruction->modifiers[left])->bits == 0 &&
            syntax_find(&syntax, instruction->opcode, words, count, NULL))
            parser_fail(base, place, "Modifier '.%s' cannot be combined with the others of '%s'",
                        modifier_name(instruction->modifiers[left]), opcode);
    }
    if (types == 0)
        parser_fail(base, place, "Instruction '%s' is incomplete: a modifier or type is missing",
                    opcode);
    parser_fail(base, place, "Unexpected instruction types specified for '%s'", opcode);
}

/* Fails if `what` needs another PTX version or target, in words like ptxas's. */
static void check_need(struct body_parser *parser, size_t place, struct text what, struct need need)
{
    const struct parse_scope *scope = parser->scope;
    char name[ARCH_NAME_SIZE];

    if (scope->version && need.ptx > scope->version)
        parser_fail(&parser->base, place, "'%.*s' requires PTX ISA .version %u.%u or later",
                    TEXT_ARG(what), need.ptx / 10u, need.ptx % 10u);
    if (scope->target.sm && !syntax_target_fits(need.target, scope->target, scope->version))
        parser_fail(&parser->base, place, "'%.*s' not supported on .target '%s', it needs sm_%s",
                    TEXT_ARG(what), arch_name(scope->target, name), need.target);
}

static void check_versions(struct body_parser *parser, const struct instruction *instruction,
                           struct text spelling, size_t place)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    struct need own = opcode->need, need = parser->syntax.row->need;

    if (need.target[0])
        own.target = "";
    check_need(parser, place, text_of(opcode->name), own);
    check_need(parser, place, spelling, need);
    for (unsigned i = 0; i < instruction->modifier_count; i++)
        check_need(parser, place, text_of(modifier_name(instruction->modifiers[i])),
                   syntax_word_need(instruction->modifiers[i]));
}

static void read_words(struct body_parser *parser, struct instruction *instruction)
{
    struct text word = parse_text(parser);
    uint16_t words[INSTRUCTION_MODIFIERS] = {0};

    instruction->opcode = words_find(&opcode_words, word);
    if (parser->base.token.kind != TOKEN_WORD)
        parser_expected(&parser->base, "an instruction");
    else if (instruction->opcode == 0)
        parse_unknown(parser, parser->base.token.offset, "Unknown instruction '%.*s'", word,
                      words_nearest(&opcode_words, word));
    parser_next(&parser->base);
    while (parser->base.token.kind == TOKEN_DOT)
        parse_modifier(parser, instruction, words);
    instruction->modifiers =
        arena_copy(parser->body->arena, words, instruction->modifier_count, sizeof *words);
}

/* An opcode with its modifiers, "ld.global.nc.u32": parses it, checks that the language has it, and
 * finds its row of operand rules. */
static void parse_spelling(struct body_parser *parser, struct instruction *instruction)
{
    size_t place = parser->base.token.offset;
    struct text text = spelling_at(parser);

    read_words(parser, instruction);
    if (parser->base.failed)
        return;
    if (!syntax_find(&parser->syntax, instruction->opcode, instruction->modifiers,
                     instruction->modifier_count, NULL)) {
        report_words(parser, instruction, place);
        return;
    }
    if (parser->syntax.misplaced)
        parser_fail(&parser->base, place,
                    "'.%s' belongs to the name of the instruction, in front of other words",
                    parser->syntax.misplaced);
    check_versions(parser, instruction, text, place);
}

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

/* Halves count as bits: ptxas accepts .f16 registers wherever it accepts .b16. */
static char register_type(enum ptx_type type)
{
    char first = ptx_type_name(type)[1];

    if (first == 'p' || first == 'u' || first == 's')
        return first;
    return type == PTX_F32 || type == PTX_F64 ? 'f' : 'b';
}

static bool add_register(struct body_parser *parser, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    unsigned bits = variable->type == PTX_PRED
                        ? 1
                        : ptx_type_size((enum ptx_type)variable->type) * 8 * variable->vector;
    const struct virtual_register model = {.name = item->name,
                                           .bits = (uint8_t)bits,
                                           .lanes = variable->vector,
                                           .type = register_type((enum ptx_type)variable->type),
                                           .class = bits == 1    ? REGISTER_PREDICATE
                                                    : bits <= 32 ? REGISTER_32
                                                    : bits <= 64 ? REGISTER_64
                                                                 : REGISTER_128};

    return parse_names_register(parser, &model, (uint32_t)item->number - 1);
}

static bool add_variable(struct body_parser *parser, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    const struct ptx_item *kept = arena_copy(parser->base.arena, item, 1, sizeof *item);

    return parse_names_symbol(parser, &(struct body_symbol){.name = item->name,
                                                            .is_body_variable = true,
                                                            .space = variable->space,
                                                            .alignment = variable->alignment,
                                                            .size = variable->size,
                                                            .type = variable->type,
                                                            .item = kept});
}

/* The module's parser reads the statement; what it declares is entered here. */
static void parse_variables(struct body_parser *parser)
{
    struct parser *base = &parser->base;
    size_t start = base->token.offset;

    base->item_count = 0;
    parser_variable(base, PTX_INTERNAL, start);
    for (size_t i = 0; i < base->item_count && !base->failed; i++) {
        const struct ptx_item *item = &base->items[i];

        if (!(item->variable.space == PTX_SPACE_REG ? add_register : add_variable)(parser, item))
            parser_fail(base, start, "'%.*s' is declared twice", TEXT_ARG(item->name));
    }
}

/* .loc file line column, function_name $L__info_string0 + 4, inlined_at 1 20 5: accepted, not kept;
 * has no semicolon. */
static void parse_location(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    parser_next(base);
    for (size_t i = 0; i < 3; i++)
        parser_count(base, UINT32_MAX, "a number of .loc");
    while (parser_skip(base, ',')) {
        if (base->token.kind != TOKEN_WORD)
            parser_expected(base, "'function_name' or 'inlined_at'");
        parser_next(base);
        while (base->token.kind == TOKEN_NUMBER || parse_at(parser, '+') ||
               (base->token.kind == TOKEN_WORD &&
                text_starts(parse_text(parser), TEXT("$L__info_string"))))
            parser_next(base);
    }
}

/* A directive inside the body, from its dotted word to its end. */
static void parse_declare(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    if (parser_at_dot(base, ".loc")) {
        parse_location(parser);
    } else if (parser_at_dot(base, ".pragma")) {
        parser_next(base);
        parser_strings(base);
        parser_mark(base, ';');
    } else if (parser_space(base) != PTX_SPACE_NONE || parser_at_dot(base, ".align") ||
               parser_at_dot(base, ".attribute")) {
        parse_variables(parser);
    } else {
        parser_fail(base, base->token.offset, "'%.*s' is no directive of a function body",
                    TEXT_ARG(parse_text(parser)));
    }
}

static void parse_prototype(struct body_parser *parser, struct label *label)
{
    struct parser *base = &parser->base;
    struct ptx_function *prototype = arena_zalloc(parser->body->arena, 1, sizeof *prototype);

    parser_head(base, prototype);
    if (base->failed)
        return;
    label->prototype = prototype;
    while (!parser_skip(base, ';') && !base->failed) {
        if (base->token.kind == TOKEN_END || parse_at(parser, '}'))
            parser_expected(base, "';'");
        parser_next(base);
    }
}

/* The directives that follow a label. */
static void parse_table(struct body_parser *parser, uint32_t label)
{
    struct label *at = &parser->body->labels[label];

    if (parser_at_dot(&parser->base, ".branchtargets"))
        parse_operand_targets(parser, at, true);
    else if (parser_at_dot(&parser->base, ".calltargets"))
        parse_operand_targets(parser, at, false);
    else if (parser_at_dot(&parser->base, ".callprototype"))
        parse_prototype(parser, at);
}

static void parse_label(struct body_parser *parser)
{
    uint32_t label = parse_label_define(parser, parse_text(parser), parser->base.token.offset);

    parser_next(&parser->base);
    parser_next(&parser->base); /* the colon */
    if (parser->base.token.kind == TOKEN_DOT)
        parse_table(parser, label);
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
