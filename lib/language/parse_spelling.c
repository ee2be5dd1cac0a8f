/* parse_spelling.c: an opcode with its modifiers, "ld.global.nc.u32": parses it, checks that the
 * language has it, and finds its row of operand rules. */
#include "facts/targets.h"
#include "language/opcode.h"
#include "language/parser.h"

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

void parse_unknown(struct body_parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant)
{
    bool is_shown = !parser->base.failed && parser->base.errors < PARSER_MOST_ERRORS;

    parser_fail(&parser->base, offset, format, TEXT_ARG(name));
    if (meant && is_shown)
        diag_note("did you mean '%s'?", meant);
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

        types += modifier_is_type(instruction->modifiers[i]);
        if (!syntax_has_word(instruction->opcode, name))
            parser_fail(base, place, "Illegal modifier '.%s' for instruction '%s'", name, opcode);
    }
    for (unsigned left = 0; left < instruction->modifier_count && !base->failed; left++) {
        unsigned count = 0;

        for (unsigned i = 0; i < instruction->modifier_count; i++)
            if (i != left)
                words[count++] = instruction->modifiers[i];
        if (!modifier_is_type(instruction->modifiers[left]) &&
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

void parse_spelling(struct body_parser *parser, struct instruction *instruction)
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
