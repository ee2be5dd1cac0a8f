/* parse_spelling.c: an opcode with its modifiers, "ld.global.nc.u32".
 *
 * A body has many instructions and few ways to spell them. What a spelling means, whether the
 * language has it, and what it says of the operands is worked out once for each. */
#include "toy/parse_spelling.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arch.h"
#include "base/memory.h"
#include "toy/language/compound.h"
#include "toy/language/opcode.h"
#include "toy/language/syntax_rule.h"
#include "toy/parser.h"

struct spelling {
    uint16_t opcode;
    uint8_t modifier_count;
    const uint16_t *modifiers;
    struct syntax syntax;
};

void parse_spelling_free(struct parser *parser)
{
    table_free(&parser->spellings.texts);
    free(parser->spellings.list);
}

/* The bytes from the token at hand to the first that no opcode or modifier has. */
static struct text spelling_at(const struct parser *parser)
{
    struct text text = parser->lexer.text;
    size_t from = parser->token.offset, end = from;

    while (end < text.size && (lexer_continues[(uint8_t)text.data[end]] || text.data[end] == '.' ||
                               text.data[end] == ':'))
        end++;
    return (struct text){text.data + from, end - from};
}

static unsigned count_dots(struct text text)
{
    unsigned dots = 0;

    for (size_t i = 0; i < text.size; i++)
        dots += text.data[i] == '.';
    return dots;
}

static void did_you_mean(const struct parser *parser, const char *name)
{
    if (name && parser->errors <= PARSE_ERROR_LIMIT)
        diag_note("did you mean '%s'?", name);
}

static bool parse_modifier(struct parser *parser, struct instruction *instruction,
                           uint16_t words[INSTRUCTION_MODIFIERS])
{
    struct text word = parse_text(parser);
    struct text name = {word.data + 1, word.size - 1};
    uint16_t modifier = modifier_find(name);

    if (modifier == 0) {
        parse_error(parser, parser->token.offset, "Unknown modifier '%.*s'", TEXT_ARG(word));
        did_you_mean(parser, modifier_nearest(name));
        return false;
    }
    if (instruction->modifier_count == INSTRUCTION_MODIFIERS)
        return parse_error(parser, parser->token.offset, "An instruction has at most %d modifiers",
                           INSTRUCTION_MODIFIERS);
    words[instruction->modifier_count++] = modifier;
    parse_advance(parser);
    return true;
}

/* No row fits: says which word is wrong, where a single one is. */
static bool report_words(struct parser *parser, const struct instruction *instruction, size_t place)
{
    const char *opcode = opcode_get(instruction->opcode)->name;
    uint16_t words[INSTRUCTION_MODIFIERS];
    struct syntax syntax;
    unsigned types = 0;

    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        const char *name = modifier_name(instruction->modifiers[i]);

        types += syntax_is_type(instruction->modifiers[i]);
        if (!syntax_has_word(instruction->opcode, name))
            return parse_error(parser, place, "Illegal modifier '.%s' for instruction '%s'", name,
                               opcode);
    }
    for (unsigned left = 0; left < instruction->modifier_count; left++) {
        unsigned count = 0;

        for (unsigned i = 0; i < instruction->modifier_count; i++)
            if (i != left)
                words[count++] = instruction->modifiers[i];
        if (!syntax_is_type(instruction->modifiers[left]) &&
            syntax_find(&syntax, instruction->opcode, words, count, 0))
            return parse_error(parser, place,
                               "Modifier '.%s' cannot be combined with the others of '%s'",
                               modifier_name(instruction->modifiers[left]), opcode);
    }
    if (types == 0)
        return parse_error(parser, place,
                           "Instruction '%s' is incomplete: a modifier or type is "
                           "missing",
                           opcode);
    return parse_error(parser, place, "Unexpected instruction types specified for '%s'", opcode);
}

/* ptxas takes these twice, and then they count once: .sat.sat. */
static bool may_be_double(uint16_t modifier)
{
    static const char *const words[] = {"sat", "approx", "uni", "sync", "aligned", "ftz"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(modifier_name(modifier), words[i]) == 0)
            return true;
    return false;
}

static bool find_without_doubles(struct syntax *syntax, const struct instruction *instruction)
{
    uint16_t words[INSTRUCTION_MODIFIERS];
    unsigned count = 0;

    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        unsigned k = 0;

        while (k < count && (words[k] != instruction->modifiers[i] || !may_be_double(words[k])))
            k++;
        if (k == count)
            words[count++] = instruction->modifiers[i];
    }
    return count < instruction->modifier_count &&
           syntax_find(syntax, instruction->opcode, words, count, 0);
}

/* "Feature '.bf16' requires .target sm_80 or higher", in ptxas's words. */
static bool check_need(struct parser *parser, size_t place, const char *what, uint16_t ptx,
                       const char *target)
{
    const struct parse_scope *scope = parser->scope;
    char name[ARCH_NAME_SIZE];

    if (scope->version && ptx > scope->version)
        return parse_error(parser, place, "'%s' requires PTX ISA .version %u.%u or later", what,
                           ptx / 10u, ptx % 10u);
    if (scope->target.sm && !syntax_target_fits(target, scope->target))
        return parse_error(parser, place, "'%s' not supported on .target '%s', it needs sm_%s",
                           what, arch_name(scope->target, name), target);
    return true;
}

static bool check_versions(struct parser *parser, const struct instruction *instruction,
                           const struct syntax *syntax, struct text spelling, size_t place)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    char *written = arena_printf(parser->body->arena, "%.*s", TEXT_ARG(spelling));
    char sm[16];

    snprintf(sm, sizeof sm, "%u", opcode->least_sm);
    if (!check_need(parser, place, opcode->name, opcode->least_ptx, syntax->target[0] ? "" : sm) ||
        !check_need(parser, place, written, syntax->ptx, syntax->target))
        return false;
    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        uint16_t ptx;
        const char *target;

        syntax_word_needs(instruction->modifiers[i], &ptx, &target);
        if (!check_need(parser, place, modifier_name(instruction->modifiers[i]), ptx, target))
            return false;
    }
    return true;
}

static const struct spelling *find_spelling(const struct parser *parser, struct text text)
{
    uint32_t index = table_find(&parser->spellings.texts, text);

    return index == TABLE_NONE ? NULL : parser->spellings.list[index];
}

static bool recall(struct parser *parser, struct instruction *instruction,
                   const struct spelling *spelling, struct text text)
{
    instruction->opcode = spelling->opcode;
    instruction->modifier_count = spelling->modifier_count;
    instruction->modifiers = spelling->modifiers;
    parser->syntax = &spelling->syntax;
    parser->lexer.at = parser->token.offset + text.size;
    parse_advance(parser);
    return parser->token.kind != TOKEN_DOT; /* blanks before a further modifier: the long way */
}

static bool read_words(struct parser *parser, struct instruction *instruction)
{
    struct text word = parse_text(parser);
    uint16_t words[INSTRUCTION_MODIFIERS];

    if (parser->token.kind != TOKEN_WORD)
        return parse_error(parser, parser->token.offset,
                           "An instruction was expected, found '%.*s'", TEXT_ARG(word));
    instruction->opcode = opcode_find(word);
    if (instruction->opcode == 0) {
        parse_error(parser, parser->token.offset, "Unknown instruction '%.*s'", TEXT_ARG(word));
        did_you_mean(parser, opcode_nearest(word));
        return false;
    }
    parse_advance(parser);
    while (parser->token.kind == TOKEN_DOT)
        if (!parse_modifier(parser, instruction, words))
            return false;
    instruction->modifiers =
        arena_copy(parser->body->arena, words, instruction->modifier_count, sizeof *words);
    return true;
}

/* Keeps what was worked out, for the next instruction that is spelled like this. */
static void remember(struct parser *parser, struct text text, const struct spelling *spelling)
{
    struct spellings *spellings = &parser->spellings;

    table_set(&spellings->texts, text, (uint32_t)spellings->count);
    ARRAY_PUSH(spellings->list, spellings->count, spellings->capacity) = spelling;
}

bool parse_spelling(struct parser *parser, struct instruction *instruction)
{
    struct lexer before = parser->lexer;
    struct token first = parser->token;
    struct text text = spelling_at(parser);
    const struct spelling *known = find_spelling(parser, text);
    struct syntax syntax;
    struct spelling *spelling;
    const char *misplaced;

    if (known) {
        if (recall(parser, instruction, known, text))
            return true;
        parser->lexer = before;
        parser->token = first;
        instruction->modifier_count = 0;
    }
    if (!read_words(parser, instruction))
        return false;
    if (!syntax_find(&syntax, instruction->opcode, instruction->modifiers,
                     instruction->modifier_count, 0) &&
        !find_without_doubles(&syntax, instruction))
        return report_words(parser, instruction, first.offset);
    misplaced = compound_misplaced(instruction->opcode, instruction->modifiers,
                                   instruction->modifier_count);
    if (misplaced)
        return parse_error(parser, first.offset,
                           "'.%s' belongs to the name of the instruction, in front of other words",
                           misplaced);
    if (!check_versions(parser, instruction, &syntax, text, first.offset))
        return false;
    spelling = arena_alloc(parser->body->arena, 1, sizeof *spelling);
    *spelling = (struct spelling){instruction->opcode, instruction->modifier_count,
                                  instruction->modifiers, syntax};
    parser->syntax = &spelling->syntax;
    if (count_dots(text) == instruction->modifier_count) /* no blanks or comments in between */
        remember(parser, text, spelling);
    return true;
}
