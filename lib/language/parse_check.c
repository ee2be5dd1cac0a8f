/* parse_check.c: checks operands against the row of syntax_table.def that matches the instruction's
 * words. A check returns what is wrong, or NULL.
 *
 * Compatible types, measured on ptxas: bits match every type of their size; signed and unsigned
 * integers match each other; floats only floats; halves, packed and small floats only bits. An
 * integer literal is not a float, and a double literal is rounded if a float is expected. */
#include "language/internal.h"

#include "base/search.h"

struct checking {
    const struct body *body;
    const struct instruction *instruction;
    const struct operand *culprit; /* the innermost one that is being checked, or NULL */
    unsigned addresses;            /* seen so far */
    unsigned least, most;          /* operands that a row allows */
};

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

static bool is_warp_size(const struct operand *operand)
{
    return operand->kind == OPERAND_SPECIAL &&
           strcmp(words_name(&special_words, (uint16_t)operand->label), "WARP_SZ") == 0;
}

static const char *check_register(const struct checking *checking, const struct operand_rule *rule,
                                  const struct operand *operand)
{
    const struct virtual_register *reg = &checking->body->registers[operand->reg];
    char type = reg->type ? reg->type : reg->class == REGISTER_PREDICATE ? 'p' : 'b';
    unsigned bits = reg->bits;

    if (operand->part == PART_LANE && reg->lanes > 1)
        bits /= reg->lanes;
    if ((rule->class == 'p') != (type == 'p'))
        return type == 'p' ? "a predicate cannot stand here" : "a predicate is needed";
    if (!classes_agree(rule->class, type))
        return "the register's type does not go with the instruction's";
    if (operand->part == PART_BYTES || operand->part == PART_HALVES)
        return NULL;
    if (rule->class == 'a')
        return bits == 32 || bits == 64 ? NULL : "an address is needed";
    if (bits == rule->bits || (bits > rule->bits && (rule->flags & RULE_WIDER)) ||
        (reg->lanes > 1 && bits == (unsigned)rule->bits * rule->lanes))
        return NULL;
    return bits > rule->bits ? "the register is too wide" : "the register is too narrow";
}

static const char *check_literal(const struct operand_rule *rule, unsigned bits)
{
    switch (rule->class) {
    case 'f':
        return bits ? NULL : "a floating-point literal is needed";
    case 'b':
        return bits == 0 || bits == rule->bits ? NULL : "the literal has another size";
    case 'x':
        return "a register is needed";
    default:
        return bits ? "an integer is needed" : NULL;
    }
}

static const char *check_special(const struct operand_rule *rule, const struct operand *operand)
{
    if (is_warp_size(operand))
        return is_integer(rule->class) || rule->class == 'b' ? NULL
                                                             : "an integer cannot stand here";
    if (!(rule->flags & RULE_SPECIAL) || rule->class == 'f' || rule->class == 'x')
        return "special registers are read by mov only";
    return special_fits((uint16_t)operand->label, rule->class, rule->bits)
               ? NULL
               : "the special register has another size";
}

static const char *check_value(struct checking *checking, const struct operand_rule *rule,
                               const struct operand *operand);

/* The elements of a vector are scalars of one size. */
static const char *check_elements(struct checking *checking, const struct operand_rule *rule,
                                  const struct operand *operand)
{
    bool has_register = false, is_written = rule->flags & RULE_WRITTEN;
    unsigned bits = 0;

    for (uint32_t i = 0; i < operand->element_count; i++) {
        const struct operand *element = &operand->elements[i];
        bool is_sink = element->kind == OPERAND_SINK;

        checking->culprit = element;
        const char *problem = is_sink ? is_written ? NULL : "a sink cannot be read"
                                      : check_value(checking, rule, element);
        if (problem)
            return problem;
        if (element->kind == OPERAND_REGISTER && !element->component) {
            unsigned own = checking->body->registers[element->reg].bits;

            if (bits && own != bits)
                return "the elements of a vector are of one size";
            bits = own;
        }
        has_register |= !is_sink;
    }
    checking->culprit = operand;
    return has_register ? NULL : "a vector of sinks has no type";
}

/* mov.b64 {a, b}, d: the elements' sizes add up to the type's. */
static const char *check_packing(struct checking *checking, const struct operand_rule *rule,
                                 const struct operand *operand)
{
    struct operand_rule part = *rule;

    if (operand->element_count == 1) /* {a} is a */
        return check_elements(checking, rule, operand);
    if (!(rule->flags & RULE_MAY_VECTOR) || rule->class != 'b')
        return "a vector cannot stand here";
    if (operand->element_count != 2 && operand->element_count != 4)
        return "a vector has 2 or 4 elements here";
    part.bits = (uint16_t)(rule->bits / operand->element_count);
    if (part.bits < 8)
        return "the vector has too many elements";
    part.flags &= (uint16_t)(~(RULE_MAY_VECTOR | RULE_SPECIAL | RULE_SYMBOL));
    for (uint32_t i = 0; i < operand->element_count; i++)
        if (operand->elements[i].kind == OPERAND_REGISTER &&
            checking->body->registers[operand->elements[i].reg].class == REGISTER_PREDICATE)
            return NULL; /* ptxas packs predicates too */
    return check_elements(checking, &part, operand);
}

static const char *check_vector(struct checking *checking, const struct operand_rule *rule,
                                const struct operand *operand)
{
    struct operand_rule element = *rule;

    if (operand->kind == OPERAND_REGISTER &&
        checking->body->registers[operand->reg].lanes == rule->lanes)
        return NULL;
    if (operand->kind != OPERAND_VECTOR)
        return "a vector is needed";
    if (operand->element_count != rule->lanes)
        return "the vector has another number of elements";
    element.lanes = 0;
    element.flags &= (uint16_t)(~(RULE_MAY_SINK | RULE_SPECIAL | RULE_SYMBOL));
    return check_elements(checking, &element, operand);
}

static const char *check_value(struct checking *checking, const struct operand_rule *rule,
                               const struct operand *operand)
{
    bool is_written = (rule->flags & RULE_WRITTEN) != 0;

    checking->culprit = operand;
    if (rule->lanes)
        return check_vector(checking, rule, operand);
    if (is_written && operand->kind != OPERAND_REGISTER && operand->kind != OPERAND_VECTOR &&
        operand->kind != OPERAND_SINK)
        return "a register is needed for the result";
    switch (operand->kind) {
    case OPERAND_REGISTER:
        if (operand->is_negated && !(rule->flags & RULE_MAY_NEGATE))
            return "it cannot be negated here";
        if (operand->is_inverted && (rule->class != 'p' || is_written))
            return "only a predicate that is read can be inverted";
        return check_register(checking, rule, operand);
    case OPERAND_IMMEDIATE:
        return check_literal(rule, operand->immediate_bits);
    case OPERAND_SPECIAL:
        return check_special(rule, operand);
    case OPERAND_SYMBOL:
        return (rule->flags & RULE_SYMBOL) && rule->class != 'f' && rule->class != 'x'
                   ? NULL
                   : "a register is needed";
    case OPERAND_SINK:
        return rule->flags & RULE_MAY_SINK ? NULL : "a sink cannot stand here";
    case OPERAND_VECTOR:
        return check_packing(checking, rule, operand);
    default:
        return "a register is needed";
    }
}

/* d|p: the second is a predicate. */
static const char *check_pair(struct checking *checking, const struct operand_rule *rule,
                              const struct operand *operand)
{
    static const struct operand_rule predicate = {
        .kind = RULE_VALUE, .class = 'p', .bits = 1, .flags = RULE_WRITTEN | RULE_MAY_SINK};
    struct operand_rule first = *rule;
    const char *problem = NULL;

    first.flags |= RULE_MAY_SINK;
    for (int i = rule->kind == RULE_VALUE ? 0 : 1; i < 2 && !problem; i++)
        problem = check_value(checking, i == 0 ? &first : &predicate, &operand->elements[i]);
    return problem;
}

/* "4/8/16", "-1/1", "0..15", "128"; other operands of the row may follow. */
static bool has_value(const char *values, int64_t value)
{
    for (char *end;; values = end + 1) {
        long long low = strtoll(values, &end, 10), high = low;

        if (end[0] == '.')
            high = strtoll(end + 2, &end, 10);
        if (value >= low && value <= high)
            return true;
        if (end[0] != '/')
            return false;
    }
}

static const char *check_immediate(const struct operand_rule *rule, const struct operand *operand)
{
    if (is_warp_size(operand))
        return NULL;
    if (operand->kind != OPERAND_IMMEDIATE || operand->immediate_bits)
        return "an integer literal is needed";
    return !rule->values || has_value(rule->values, operand->value) ? NULL
                                                                    : "the value is out of range";
}

/* One register of a fragment; all have the size that the rule gives, or that of the first. */
static const char *check_part(struct checking *checking, const struct operand_rule *rule,
                              const struct operand *part, unsigned *bits)
{
    const struct virtual_register *reg;

    checking->culprit = part;
    if (part->kind == OPERAND_SINK)
        return rule->flags & RULE_WRITTEN ? NULL : "a sink cannot be read";
    if ((part->kind == OPERAND_IMMEDIATE && !(rule->flags & RULE_WRITTEN)) ||
        (part->kind == OPERAND_SPECIAL && (rule->flags & RULE_SPECIAL)))
        return NULL;
    if (part->kind != OPERAND_REGISTER || part->is_negated || part->is_inverted)
        return "a register is needed";
    reg = &checking->body->registers[part->reg];
    if (reg->class == REGISTER_PREDICATE)
        return "a predicate cannot stand here";
    if (part->part == PART_LANE || reg->lanes > 1)
        return NULL;
    *bits = *bits ?: reg->bits;
    return *bits == reg->bits ? NULL : "a register of the vector has another size";
}

/* A matrix fragment or similar: a vector of registers, or a single one. */
static const char *check_parts(struct checking *checking, const struct operand_rule *rule,
                               const struct operand *operand)
{
    bool is_vector = operand->kind == OPERAND_VECTOR;
    unsigned bits = rule->bits;
    const char *problem = NULL;

    if (operand->kind == OPERAND_REGISTER && rule->lanes > 1 &&
        checking->body->registers[operand->reg].lanes == rule->lanes)
        return NULL;
    if (rule->lanes && !is_vector)
        return "a vector is needed";
    if (is_vector && rule->lanes && rule->lanes != SYNTAX_ANY_LANES &&
        rule->lanes != operand->element_count)
        return "the vector has another number of elements";
    /* Only wgmma has vectors of any multiple of four registers. */
    if (is_vector && checking->instruction->opcode != INDEX_wgmma &&
        (operand->element_count & (operand->element_count - 1)))
        return "a vector of this size does not exist";
    if (!is_vector || operand->part == PART_PAIR)
        return check_part(checking, rule, operand, &bits);
    for (uint32_t i = 0; i < operand->element_count && !problem; i++)
        problem = check_part(checking, rule, &operand->elements[i], &bits);
    return problem;
}

/* The state space that the instruction names for its address number `index`, or PTX_SPACE_NONE: an
 * instruction that moves data names two. */
static enum ptx_space space_of(const struct instruction *instruction, unsigned index)
{
    for (unsigned i = 0; i < instruction->modifier_count; i++) {
        const char *name = modifier_name(instruction->modifiers[i]);
        struct text word = {name, strcspn(name, ":")};

        for (enum ptx_space space = PTX_SPACE_GLOBAL; space <= PTX_SPACE_PARAM; space++)
            if (text_equal(word, text_of(ptx_space_names[space] + 1)) && index-- == 0)
                return space;
    }
    return PTX_SPACE_NONE;
}

static bool space_agrees(enum ptx_space space, const struct body_symbol *symbol, bool is_written)
{
    if (space == PTX_SPACE_NONE)
        return symbol->space != PTX_SPACE_TEX && symbol->space != PTX_SPACE_CONST &&
               symbol->space != PTX_SPACE_PARAM;
    return space == symbol->space && !(is_written && symbol->is_parameter && !symbol->is_return);
}

static const char *check_address(struct checking *checking, const struct operand *operand)
{
    const struct body *body = checking->body;
    const struct instruction *instruction = checking->instruction;
    unsigned index = checking->addresses++;
    enum ptx_space space;

    if (operand->kind != OPERAND_ADDRESS)
        return "an address is needed";
    if (operand->reg != NO_INDEX && body->registers[operand->reg].type == 'f')
        return "a float is no address";
    if (operand->symbol == NO_INDEX || (opcode_get(instruction->opcode)->flags & OPCODE_TEXTURE))
        return NULL;
    if (body->symbols[operand->symbol].is_function)
        return "a function is no data";
    space = space_of(instruction, index);
    if (index && space == PTX_SPACE_NONE) /* a barrier or a map: not in the instruction's space */
        return NULL;
    return space_agrees(space, &body->symbols[operand->symbol], instruction->opcode == INDEX_st)
               ? NULL
               : "the state space does not go with the address";
}

static const char *check_barrier(struct checking *checking)
{
    const struct instruction *instruction = checking->instruction;
    const struct operand *number = &instruction->operands[instruction->results];
    int given = instruction->operand_count - instruction->results;

    if (instruction->modifier_count &&
        strcmp(modifier_name(instruction->modifiers[0]), "warp") == 0)
        return NULL;
    checking->culprit = number;
    if (given > 0 && number->kind == OPERAND_IMMEDIATE && (number->value < 0 || number->value > 15))
        return "a barrier's number is 0 to 15";
    checking->culprit = ++number;
    if (given > 1 && number->kind == OPERAND_IMMEDIATE && number->value % 32 != 0)
        return "the number of threads is a multiple of 32";
    return NULL;
}

static const char *check_operand(struct checking *checking, const struct operand_rule *rule,
                                 const struct operand *operand)
{
    bool is_pair = operand->kind == OPERAND_VECTOR && operand->part == PART_PAIR;

    if (is_pair && !(rule->flags & (RULE_MAY_PAIR | RULE_MUST_PAIR)))
        return "the instruction has no second result";
    if (!is_pair && (rule->flags & RULE_MUST_PAIR))
        return "a predicate is needed for the second result";
    if (is_pair)
        return check_pair(checking, rule, operand);
    switch (rule->kind) {
    case RULE_VALUE:
        return check_value(checking, rule, operand);
    case RULE_PARTS:
        return check_parts(checking, rule, operand);
    case RULE_IMMEDIATE:
        return check_immediate(rule, operand);
    case RULE_ADDRESS:
        return check_address(checking, operand);
    case RULE_LABEL:
        return operand->kind == OPERAND_LABEL ? NULL : "a label is needed";
    case RULE_SINK:
        return operand->kind == OPERAND_SINK ? NULL : "only '_' can stand here";
    default:
        return NULL;
    }
}

/* An optional operand is present if more operands are left than are required. */
static const char *check_all(struct checking *checking, const struct syntax *syntax)
{
    const struct instruction *instruction = checking->instruction;
    unsigned at = 0, required = syntax->required;

    for (unsigned i = 0; i < syntax->rule_count; i++) {
        const struct operand_rule *rule = &syntax->rules[i];
        const char *problem;

        if (!(rule->flags & RULE_OPTIONAL))
            required--;
        else if (instruction->operand_count - at <= required)
            continue;
        checking->culprit = NULL;
        if (at == instruction->operand_count)
            return "an operand is missing";
        checking->culprit = &instruction->operands[at];
        problem = check_operand(checking, rule, &instruction->operands[at++]);
        if (problem)
            return problem;
    }
    if (at == instruction->operand_count)
        return NULL;
    checking->culprit = &instruction->operands[at];
    return "one operand too many";
}

/* NULL if the row that was found, or a later one, matches; else the problem of the first. */
static const char *check_rows(struct checking *checking, const struct syntax *first,
                              struct instruction *instruction)
{
    struct syntax row = *first;
    const char *problem = check_all(checking, &row);

    checking->least = row.required;
    checking->most = row.rule_count;
    syntax_note_results(&row, instruction);
    while (problem && syntax_find(&row, instruction->opcode, instruction->modifiers,
                                  instruction->modifier_count, row.row)) {
        struct checking again = {.body = checking->body, .instruction = instruction};

        if (row.required < checking->least)
            checking->least = row.required;
        RAISE(checking->most, row.rule_count);
        if (!check_all(&again, &row)) {
            syntax_note_results(&row, instruction);
            return NULL;
        }
    }
    return problem;
}

static void report_count(struct body_parser *parser, const struct checking *checking,
                         const char *name, size_t given, size_t place)
{
    if (checking->least == checking->most)
        parser_fail(&parser->base, place, "'%s' takes %u operand%s here, not %zu", name,
                    checking->least, checking->least == 1 ? "" : "s", given);
    else
        parser_fail(&parser->base, place, "'%s' takes %u to %u operands here, not %zu", name,
                    checking->least, checking->most, given);
}

void parse_check(struct body_parser *parser, struct instruction *instruction, size_t given,
                 size_t place)
{
    struct parser *base = &parser->base;
    const struct opcode *opcode = opcode_get(instruction->opcode);
    struct checking checking = {
        .body = parser->body, .instruction = instruction, .least = 1, .most = 4};
    const char *problem = NULL;

    if (opcode->flags & OPCODE_CALL) /* call (result), function, (arguments), prototype */
        instruction->results =
            instruction->operand_count > 1 && instruction->operands[0].kind == OPERAND_LIST;
    else
        problem = check_rows(&checking, &parser->syntax, instruction);
    if (!problem && (opcode->flags & OPCODE_BARRIER))
        problem = check_barrier(&checking);
    if (given < checking.least || given > checking.most)
        report_count(parser, &checking, opcode->name, given, place);
    else if (problem && checking.culprit)
        parser_fail(base, (size_t)(checking.culprit->text.data - base->lexer.text.data),
                    "Arguments mismatch for instruction '%s': '%.*s': %s", opcode->name,
                    TEXT_ARG(checking.culprit->text), problem);
    else if (problem)
        parser_fail(base, place, "Arguments mismatch for instruction '%s': %s", opcode->name,
                    problem);
}
