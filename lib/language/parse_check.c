/* parse_check.c: checks operands against the row of syntax_table.def that matches the instruction's
 * words.
 *
 * Compatible types, measured on ptxas: bits match every type of their size; signed and unsigned
 * integers match each other; floats only floats; halves, packed and small floats only bits. An
 * integer literal is not a float, and a double literal is rounded if a float is expected.
 */
#include "language/parser.h"

#include <stdlib.h>

#include "language/opcode.h"

struct checking {
    struct body_parser *parser;
    const struct instruction *instruction;
    const char *problem; /* the first one found, or NULL */
    const struct operand *culprit;
    unsigned addresses; /* seen so far */
    bool is_store;
};

static bool mismatch(struct checking *checking, const struct operand *operand, const char *problem)
{
    if (!checking->problem) {
        checking->problem = problem;
        checking->culprit = operand;
    }
    return false;
}

static bool is_integer(char type)
{
    return type == 'u' || type == 's';
}

static bool classes_agree(char rule, char type)
{
    if (rule == 'x')
        return type == 'b';
    if (rule == 'a')
        return type != 'f' && type != 'p';
    return rule == type || rule == 'b' || type == 'b' || (is_integer(rule) && is_integer(type));
}

static bool check_register(struct checking *checking, const struct operand_rule *rule,
                           const struct operand *operand)
{
    const struct virtual_register *reg = &checking->parser->body->registers[operand->reg];
    char type = reg->type ? reg->type : reg->class == REGISTER_PREDICATE ? 'p' : 'b';
    unsigned bits = reg->bits;

    if (operand->part == PART_LANE && reg->lanes > 1)
        bits /= reg->lanes;
    if ((rule->class == 'p') != (type == 'p'))
        return mismatch(checking, operand,
                        type == 'p' ? "a predicate cannot stand here" : "a predicate is needed");
    if (!classes_agree(rule->class, type))
        return mismatch(checking, operand,
                        "the register's type does not go with the instruction's");
    if (operand->part == PART_BYTES || operand->part == PART_HALVES)
        return true;
    if (rule->class == 'a')
        return bits == 32 || bits == 64 || mismatch(checking, operand, "an address is needed");
    if (bits == rule->bits || (bits > rule->bits && (rule->flags & RULE_WIDER)))
        return true;
    if (reg->lanes > 1 && bits == (unsigned)rule->bits * rule->lanes)
        return true;
    return mismatch(checking, operand,
                    bits > rule->bits ? "the register is too wide" : "the register is too narrow");
}

static bool check_literal(struct checking *checking, const struct operand_rule *rule,
                          const struct operand *operand)
{
    unsigned bits = operand->immediate_bits;

    switch (rule->class) {
    case 'f':
        return bits != 0 || mismatch(checking, operand, "a floating-point literal is needed");
    case 'b':
        return bits == 0 || bits == rule->bits ||
               mismatch(checking, operand, "the literal has another size");
    case 'x':
        return mismatch(checking, operand, "a register is needed");
    default:
        return bits == 0 || mismatch(checking, operand, "an integer is needed");
    }
}

static bool check_special(struct checking *checking, const struct operand_rule *rule,
                          const struct operand *operand)
{
    const char *name = special_name((uint16_t)operand->label);

    if (strcmp(name, "WARP_SZ") == 0)
        return is_integer(rule->class) || rule->class == 'b' ||
               mismatch(checking, operand, "an integer cannot stand here");
    if (!(rule->flags & RULE_SPECIAL) || rule->class == 'f' || rule->class == 'x')
        return mismatch(checking, operand, "special registers are read by mov only");
    return opcode_special_fits(name, rule->class, rule->bits) ||
           mismatch(checking, operand, "the special register has another size");
}

static bool check_value(struct checking *checking, const struct operand_rule *rule,
                        const struct operand *operand);

/* Checks that the elements of a vector are scalars of one size. */
static bool check_elements(struct checking *checking, const struct operand_rule *rule,
                           const struct operand *operand)
{
    bool has_register = false;
    unsigned bits = 0;

    for (uint32_t i = 0; i < operand->element_count; i++) {
        const struct operand *element = &operand->elements[i];

        if (element->kind == OPERAND_SINK && (rule->flags & RULE_WRITTEN))
            continue;
        if (element->kind == OPERAND_SINK)
            return mismatch(checking, element, "a sink cannot be read");
        has_register = true;
        if (!check_value(checking, rule, element))
            return false;
        if (element->kind != OPERAND_REGISTER || element->component)
            continue;
        unsigned own = checking->parser->body->registers[element->reg].bits;

        if (bits && own != bits)
            return mismatch(checking, element, "the elements of a vector are of one size");
        bits = own;
    }
    return has_register || mismatch(checking, operand, "a vector of sinks has no type");
}

/* mov.b64 {a, b}, d: the elements' sizes add up to the type's. */
static bool check_packing(struct checking *checking, const struct operand_rule *rule,
                          const struct operand *operand)
{
    struct operand_rule part = *rule;

    if (operand->element_count == 1) /* {a} is a */
        return check_elements(checking, rule, operand);
    if (!(rule->flags & RULE_MAY_VECTOR) || rule->class != 'b')
        return mismatch(checking, operand, "a vector cannot stand here");
    if (operand->element_count != 2 && operand->element_count != 4)
        return mismatch(checking, operand, "a vector has 2 or 4 elements here");
    part.bits = (uint16_t)(rule->bits / operand->element_count);
    if (part.bits < 8)
        return mismatch(checking, operand, "the vector has too many elements");
    part.flags &= (uint16_t)(~(RULE_MAY_VECTOR | RULE_SPECIAL | RULE_SYMBOL));
    for (uint32_t i = 0; i < operand->element_count; i++)
        if (operand->elements[i].kind == OPERAND_REGISTER &&
            checking->parser->body->registers[operand->elements[i].reg].class == REGISTER_PREDICATE)
            return true; /* ptxas packs predicates too */
    return check_elements(checking, &part, operand);
}

static bool check_vector(struct checking *checking, const struct operand_rule *rule,
                         const struct operand *operand)
{
    struct operand_rule element = *rule;

    if (operand->kind == OPERAND_REGISTER)
        return checking->parser->body->registers[operand->reg].lanes == rule->lanes ||
               mismatch(checking, operand, "a vector is needed");
    if (operand->kind != OPERAND_VECTOR)
        return mismatch(checking, operand, "a vector is needed");
    if (operand->element_count != rule->lanes)
        return mismatch(checking, operand, "the vector has another number of elements");
    element.lanes = 0;
    element.flags &= (uint16_t)(~(RULE_MAY_SINK | RULE_SPECIAL | RULE_SYMBOL));
    return check_elements(checking, &element, operand);
}

static bool check_value(struct checking *checking, const struct operand_rule *rule,
                        const struct operand *operand)
{
    bool is_written = (rule->flags & RULE_WRITTEN) != 0;

    if (rule->lanes)
        return check_vector(checking, rule, operand);
    if (is_written && operand->kind != OPERAND_REGISTER && operand->kind != OPERAND_VECTOR &&
        operand->kind != OPERAND_SINK)
        return mismatch(checking, operand, "a register is needed for the result");
    switch (operand->kind) {
    case OPERAND_REGISTER:
        if (operand->is_negated && !(rule->flags & RULE_MAY_NEGATE))
            return mismatch(checking, operand, "it cannot be negated here");
        if (operand->is_inverted && (rule->class != 'p' || is_written))
            return mismatch(checking, operand, "only a predicate that is read can be inverted");
        return check_register(checking, rule, operand);
    case OPERAND_IMMEDIATE:
        return check_literal(checking, rule, operand);
    case OPERAND_SPECIAL:
        return check_special(checking, rule, operand);
    case OPERAND_SYMBOL:
        return ((rule->flags & RULE_SYMBOL) && rule->class != 'f' && rule->class != 'x') ||
               mismatch(checking, operand, "a register is needed");
    case OPERAND_SINK:
        return (rule->flags & RULE_MAY_SINK) ||
               mismatch(checking, operand, "a sink cannot stand here");
    case OPERAND_VECTOR:
        return check_packing(checking, rule, operand);
    default:
        return mismatch(checking, operand, "a register is needed");
    }
}

/* d|p: the second is a predicate. */
static bool check_pair(struct checking *checking, const struct operand_rule *rule,
                       const struct operand *operand)
{
    static const struct operand_rule predicate = {
        .kind = RULE_VALUE, .class = 'p', .bits = 1, .flags = RULE_WRITTEN | RULE_MAY_SINK};
    struct operand_rule first = *rule;

    first.flags |= RULE_MAY_SINK;
    if (rule->kind == RULE_VALUE && !check_value(checking, &first, &operand->elements[0]))
        return false;
    return check_value(checking, &predicate, &operand->elements[1]);
}

/* "4/8/16", "-1/1", "0..15", "128" */
static bool has_value(const char *values, int64_t value)
{
    while (*values) {
        char *end;
        long long low = strtoll(values, &end, 10), high = low;

        if (end[0] == '.')
            high = strtoll(end + 2, &end, 10);
        if (value >= low && value <= high)
            return true;
        values = *end ? end + 1 : end;
    }
    return false;
}

static bool check_immediate(struct checking *checking, const struct operand_rule *rule,
                            const struct operand *operand)
{
    if (operand->kind == OPERAND_SPECIAL &&
        strcmp(special_name((uint16_t)operand->label), "WARP_SZ") == 0)
        return true;
    if (operand->kind != OPERAND_IMMEDIATE || operand->immediate_bits)
        return mismatch(checking, operand, "an integer literal is needed");
    return !rule->values || has_value(rule->values, operand->value) ||
           mismatch(checking, operand, "the value is out of range");
}

/* One register of a fragment; all have the size that the rule gives, or that of the first. */
static bool check_part(struct checking *checking, const struct operand_rule *rule,
                       const struct operand *part, unsigned *bits)
{
    const struct virtual_register *reg;

    if (part->kind == OPERAND_SINK)
        return (rule->flags & RULE_WRITTEN) || mismatch(checking, part, "a sink cannot be read");
    if ((part->kind == OPERAND_IMMEDIATE && !(rule->flags & RULE_WRITTEN)) ||
        (part->kind == OPERAND_SPECIAL && (rule->flags & RULE_SPECIAL)))
        return true;
    if (part->kind != OPERAND_REGISTER || part->is_negated || part->is_inverted)
        return mismatch(checking, part, "a register is needed");
    reg = &checking->parser->body->registers[part->reg];
    if (reg->class == REGISTER_PREDICATE)
        return mismatch(checking, part, "a predicate cannot stand here");
    if (part->part == PART_LANE || reg->lanes > 1)
        return true;
    if (*bits == 0)
        *bits = reg->bits;
    return *bits == reg->bits ||
           mismatch(checking, part, "a register of the vector has another size");
}

/* A matrix fragment or similar: a vector of registers, or a single one. */
static bool check_parts(struct checking *checking, const struct operand_rule *rule,
                        const struct operand *operand)
{
    bool is_vector = operand->kind == OPERAND_VECTOR;
    unsigned bits = rule->bits;

    if (operand->kind == OPERAND_REGISTER && rule->lanes > 1 &&
        checking->parser->body->registers[operand->reg].lanes == rule->lanes)
        return true;
    if (rule->lanes && !is_vector)
        return mismatch(checking, operand, "a vector is needed");
    if (is_vector && rule->lanes && rule->lanes != SYNTAX_ANY_LANES &&
        rule->lanes != operand->element_count)
        return mismatch(checking, operand, "the vector has another number of elements");
    /* Only wgmma has vectors of any multiple of four registers. */
    if (is_vector && checking->instruction->opcode != INDEX_wgmma &&
        (operand->element_count & (operand->element_count - 1)))
        return mismatch(checking, operand, "a vector of this size does not exist");
    if (!is_vector || operand->part == PART_PAIR)
        return check_part(checking, rule, operand, &bits);
    for (uint32_t i = 0; i < operand->element_count; i++)
        if (!check_part(checking, rule, &operand->elements[i], &bits))
            return false;
    return true;
}

/* The state space that the instruction names for its address number `index`, or PTX_SPACE_NONE: an
 * instruction that moves data names two. */
static enum ptx_space space_of(const struct instruction *instruction, unsigned index)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL},
                  {"shared", PTX_SPACE_SHARED},
                  {"local", PTX_SPACE_LOCAL},
                  {"const", PTX_SPACE_CONST},
                  {"param", PTX_SPACE_PARAM}};

    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        const char *name = modifier_name(instruction->modifiers[i]);

        for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++) {
            size_t size = strlen(spaces[k].word);

            if (strncmp(name, spaces[k].word, size) != 0 || (name[size] && name[size] != ':'))
                continue;
            if (index-- == 0)
                return spaces[k].space;
        }
    }
    return PTX_SPACE_NONE;
}

static bool space_agrees(enum ptx_space space, const struct body_symbol *symbol, bool is_written)
{
    if (space == PTX_SPACE_NONE)
        return symbol->space != PTX_SPACE_TEX && symbol->space != PTX_SPACE_CONST &&
               symbol->space != PTX_SPACE_PARAM;
    if (is_written && symbol->is_parameter && !symbol->is_return)
        return false;
    return space == symbol->space;
}

static bool check_address(struct checking *checking, const struct operand *operand)
{
    const struct body *body = checking->parser->body;
    unsigned flags = opcode_get(checking->instruction->opcode)->flags;
    unsigned index = checking->addresses++;
    enum ptx_space space;

    if (operand->kind != OPERAND_ADDRESS)
        return mismatch(checking, operand, "an address is needed");
    if (operand->reg != NO_INDEX && body->registers[operand->reg].type == 'f')
        return mismatch(checking, operand, "a float is no address");
    if (operand->symbol == NO_INDEX || (flags & OPCODE_TEXTURE))
        return true;
    if (body->symbols[operand->symbol].is_function)
        return mismatch(checking, operand, "a function is no data");
    space = space_of(checking->instruction, index);
    if (index && space == PTX_SPACE_NONE) /* a barrier or a map: not in the instruction's space */
        return true;
    return space_agrees(space, &body->symbols[operand->symbol], checking->is_store) ||
           mismatch(checking, operand, "the state space does not go with the address");
}

static bool check_barrier(struct checking *checking)
{
    const struct instruction *instruction = checking->instruction;
    unsigned at = instruction->results;
    const struct operand *number = &instruction->operands[at];

    if (instruction->modifier_count &&
        strcmp(modifier_name(instruction->modifiers[0]), "warp") == 0)
        return true;
    if (at < instruction->operand_count && number->kind == OPERAND_IMMEDIATE &&
        (number->value < 0 || number->value > 15))
        return mismatch(checking, number, "a barrier's number is 0 to 15");
    if (at + 1 < instruction->operand_count && number[1].kind == OPERAND_IMMEDIATE &&
        number[1].value % 32 != 0)
        return mismatch(checking, number + 1, "the number of threads is a multiple of 32");
    return true;
}

static bool check_operand(struct checking *checking, const struct operand_rule *rule,
                          const struct operand *operand)
{
    bool is_pair = operand->kind == OPERAND_VECTOR && operand->part == PART_PAIR;

    if (is_pair && !(rule->flags & (RULE_MAY_PAIR | RULE_MUST_PAIR)))
        return mismatch(checking, operand, "the instruction has no second result");
    if (!is_pair && (rule->flags & RULE_MUST_PAIR))
        return mismatch(checking, operand, "a predicate is needed for the second result");
    if (is_pair)
        return check_pair(checking, rule, operand);
    switch (rule->kind) {
    case RULE_VALUE:
        return check_value(checking, rule, operand);
    case RULE_PARTS:
        return check_parts(checking, rule, operand);
    case RULE_IMMEDIATE:
        return check_immediate(checking, rule, operand);
    case RULE_ADDRESS:
        return check_address(checking, operand);
    case RULE_LABEL:
        return operand->kind == OPERAND_LABEL || mismatch(checking, operand, "a label is needed");
    case RULE_SINK:
        return operand->kind == OPERAND_SINK ||
               mismatch(checking, operand, "only '_' can stand here");
    default:
        return true;
    }
}

/* An optional operand is present if more operands are left than are required. */
static bool check_all(struct checking *checking, const struct syntax *syntax)
{
    const struct instruction *instruction = checking->instruction;
    unsigned at = 0, required = syntax->required;

    for (unsigned i = 0; i < syntax->rule_count; i++) {
        const struct operand_rule *rule = &syntax->rules[i];

        if (rule->flags & RULE_OPTIONAL) {
            if (instruction->operand_count - at <= required)
                continue;
        } else {
            required--;
        }
        if (at == instruction->operand_count)
            return mismatch(checking, NULL, "an operand is missing");
        if (!check_operand(checking, rule, &instruction->operands[at++]))
            return false;
    }
    return at == instruction->operand_count ||
           mismatch(checking, &instruction->operands[at], "one operand too many");
}

static void report(const struct checking *checking, size_t place)
{
    struct parser *base = &checking->parser->base;
    const char *name = opcode_get(checking->instruction->opcode)->name;
    const struct operand *culprit = checking->culprit;

    if (culprit)
        parser_fail(base, (size_t)(culprit->text.data - base->lexer.text.data),
                    "Arguments mismatch for instruction '%s': '%.*s': %s", name,
                    TEXT_ARG(culprit->text), checking->problem);
    else
        parser_fail(base, place, "Arguments mismatch for instruction '%s': %s", name,
                    checking->problem);
}

static struct checking begin(struct body_parser *parser, const struct instruction *instruction)
{
    return (struct checking){
        .parser = parser, .instruction = instruction, .is_store = instruction->opcode == INDEX_st};
}

/* True if the row that was found, or a later one, matches; else `checking` has the problem of the
 * first. */
static bool fits(struct checking *checking, struct instruction *instruction)
{
    unsigned flags = opcode_get(instruction->opcode)->flags;
    struct syntax other = checking->parser->syntax;

    syntax_note_results(&other, instruction);
    if (check_all(checking, &other) && (!(flags & OPCODE_BARRIER) || check_barrier(checking)))
        return true;
    while (!(flags & OPCODE_BARRIER) &&
           syntax_find(&other, instruction->opcode, instruction->modifiers,
                       instruction->modifier_count, (uint16_t)(other.row + 1))) {
        struct checking again = begin(checking->parser, instruction);

        if (check_all(&again, &other)) {
            syntax_note_results(&other, instruction);
            return true;
        }
    }
    return false;
}

void parse_check(struct body_parser *parser, struct instruction *instruction, size_t place)
{
    struct checking checking = begin(parser, instruction);

    if (opcode_get(instruction->opcode)->flags & OPCODE_CALL) /* call (r), f */
        instruction->results =
            instruction->operand_count > 1 && instruction->operands[0].kind == OPERAND_LIST;
    else if (!fits(&checking, instruction))
        report(&checking, place);
}
