/* syntax_rule.c: decodes the operands of a row of syntax_table.def, which explains the notation.
 *
 * Sizes of fragments follow from the shape and the types. A warp's 32 threads share a matrix
 * evenly, in 32-bit registers. Exceptions: fragments of .f16 in wmma have the same size for all
 * shapes, and mma.m8n8k4 of .f16 is four matrices at once. */
#include "language/syntax.h"

#include <stdio.h>

/* The instruction's words that operands depend on. */
struct words_seen {
    uint16_t types[INSTRUCTION_MODIFIERS]; /* the types, in order */
    size_t type_count;
    uint8_t lanes;  /* .v2 .v4 .v8; else 0 */
    uint8_t repeat; /* .x1 .x2 .x4; else 0 */
};

static struct words_seen look(const uint16_t *modifiers, size_t count)
{
    struct words_seen seen = {0};

    for (size_t i = 0; i < count; i++) {
        const char *name = modifier_name(modifiers[i]);

        if (modifier_type(modifiers[i])->bits)
            seen.types[seen.type_count++] = modifiers[i];
        else if (name[0] == 'v' && text_is_digit(name[1]) && name[2] == '\0')
            seen.lanes = (uint8_t)(name[1] - '0');
        else if (name[0] == 'x' && text_is_digit(name[1]) && name[2] == '\0')
            seen.repeat = (uint8_t)(name[1] - '0');
    }
    return seen;
}

/* Operands that are there exactly with one of these words, and what they are. */
static const struct {
    const char *item, *word, *operand;
} conditional[] = {
    {"h", "L2::cache_hint", "b64"},
    {"B", "and", "pred"},
    {"B", "or", "pred"},
    {"B", "xor", "pred"},
    {"M", "multicast::cluster", "b16"},
    {"M", "multicast::cluster::16b", "b16"},
    {"S", "scaled::n1::ue8m0", "b8"},
    {"S", "scaled::n2::ue8m0", "b16"},
};

/* What a row's item stands for with these words: itself, but for those; empty = nothing. */
static struct text operand_with(struct text item, const uint16_t *modifiers, size_t count)
{
    struct text result = item;

    for (size_t i = 0; i < sizeof conditional / sizeof conditional[0]; i++) {
        if (!text_equal(item, text_of(conditional[i].item)))
            continue;
        result.size = 0;
        for (size_t k = 0; k < count; k++)
            if (strcmp(modifier_name(modifiers[k]), conditional[i].word) == 0)
                return text_of(conditional[i].operand);
    }
    return result;
}

/* The flag of a mark before an operand; 0 for any other character. */
static uint16_t flag_of(char mark)
{
    static const struct {
        char mark;
        uint16_t flag;
    } flags[] = {
        {'=', RULE_WRITTEN},  {'+', RULE_WRITTEN | RULE_ACCUMULATES},
        {'|', RULE_MAY_PAIR}, {'^', RULE_MUST_PAIR},
        {'%', RULE_SPECIAL},  {'&', RULE_SYMBOL},
        {'~', RULE_WIDER},    {'-', RULE_MAY_NEGATE},
        {'_', RULE_MAY_SINK},
    };

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (mark == flags[i].mark)
            return flags[i].flag;
    return 0;
}

static void take_flags(struct text *item, struct operand_rule *rule)
{
    for (uint16_t flag; item->size > 1 && (flag = flag_of(item->data[0])) != 0;) {
        rule->flags |= flag;
        *item = text_drop(*item, 1);
    }
}

/* Type number n, or the unsigned or doubled type of it, or a type by name. */
static void take_type(struct text item, const struct words_seen *seen, struct operand_rule *rule)
{
    char digit = item.data[item.size - 1];
    size_t number = (size_t)(digit - '0');
    uint16_t type;

    if (item.size == 1 && item.data[0] == 'a') {
        rule->class = 'a';
        return;
    }
    if (item.size <= 2 && text_is_digit(digit) && (item.size == 1 || strchr("uw", item.data[0]))) {
        if (number >= seen->type_count) {
            rule->kind = RULE_ANY;
            return;
        }
        type = seen->types[number];
    } else {
        type = modifier_find(item);
    }
    rule->class = modifier_type(type)->class;
    rule->bits = modifier_type(type)->bits;
    if (item.size == 2 && item.data[0] == 'u')
        rule->class = 'u';
    if (item.size == 2 && item.data[0] == 'w')
        rule->bits = (uint16_t)(rule->bits * 2);
}

/* {}0: a vector as given by .v4, else a scalar; {f32}4: four; {}0 without .vN in a mov: a vector
 * whose elements fill the type. */
static void take_vector(struct text item, const struct words_seen *seen, struct operand_rule *rule)
{
    const char *end = memchr(item.data, '}', item.size);
    struct text inside = {item.data + 1, (size_t)(end - item.data) - 1};
    struct text behind = {end + 1, item.size - inside.size - 2};

    rule->kind = RULE_VALUE;
    if (inside.size) {
        take_type(inside, seen, rule);
        rule->lanes = (uint8_t)(behind.data[0] - '0');
        return;
    }
    if (behind.size == 0) {
        rule->kind = RULE_PARTS;
        return;
    }
    take_flags(&behind, rule);
    take_type(behind, seen, rule);
    rule->lanes = seen->lanes;
    if (rule->flags & RULE_SPECIAL)
        rule->flags |= RULE_MAY_VECTOR;
}

static void take_item(struct text item, const struct words_seen *seen, struct operand_rule *rule)
{
    if (item.data[item.size - 1] == '?') {
        rule->flags |= RULE_OPTIONAL;
        item.size--;
    }
    take_flags(&item, rule);
    if (item.data[0] == '#') {
        rule->kind = RULE_IMMEDIATE;
        rule->values = item.size > 1 ? item.data + 1 : NULL;
    } else if (item.data[0] == '[') {
        rule->kind = RULE_ADDRESS;
    } else if (item.data[0] == '{') {
        take_vector(item, seen, rule);
    } else if (text_equal(item, TEXT("_"))) {
        rule->kind = RULE_SINK;
    } else if (text_equal(item, TEXT("L")) || text_equal(item, TEXT("T"))) {
        rule->kind = RULE_LABEL;
    } else if (text_equal(item, TEXT("v")) || text_equal(item, TEXT("V")) ||
               text_equal(item, TEXT("vp"))) {
        rule->kind = RULE_PARTS;
        rule->lanes = text_equal(item, TEXT("vp")) ? SYNTAX_ANY_LANES : 0;
    } else if (item.data[0] == 'X') { /* X: as many as .x4 gives; XX: twice that */
        rule->kind = RULE_PARTS;
        rule->lanes = (uint8_t)(seen->repeat * item.size);
    } else if (strchr("mAx", item.data[0]) || item.data[0] == 'c') {
        rule->kind = RULE_ANY;
    } else {
        rule->kind = RULE_VALUE;
        take_type(item, seen, rule);
    }
}

#define WARP 32u

/* Number of halves of A and of B in each thread, for any shape. */
#define WMMA_HALVES 16u

enum matrix { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };

/* Facts from the modifiers. */
struct multiplication {
    unsigned m, n, k;
    const char *types[4]; /* in order */
    unsigned type_count;
    bool is_wmma;
    bool is_sparse;
    bool is_packed; /* .e2m1 takes 4 bits, else 8 */
};

static unsigned bits_of(const char *type, bool is_packed)
{
    if (is_packed && strcmp(type, "e2m1") == 0)
        return 4;
    return modifier_type(modifier_find(text_of(type)))->matrix_bits;
}

static void read_modifiers(struct multiplication *result, const uint16_t *modifiers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *word = modifier_name(modifiers[i]);

        sscanf(word, "m%un%uk%u", &result->m, &result->n, &result->k);
        result->is_sparse |= strncmp(word, "sp", 2) == 0;
        result->is_packed |= strncmp(word, "kind::mxf4", 10) == 0;
        if (modifier_type(modifiers[i])->matrix_bits)
            result->types[result->type_count++] = word;
    }
}

/* Every row has one, two or four types: .f16 wmma.mma only names those of D and C. */
static const char *type_of(const struct multiplication *m, enum matrix matrix)
{
    if (m->type_count == 1)
        return m->types[0];
    if (m->type_count == 2)
        return matrix == MATRIX_D ? m->types[0] : matrix == MATRIX_C ? m->types[1] : "f16";
    return m->types[matrix];
}

static void set_size(struct operand_rule *rule, const struct multiplication *m, enum matrix matrix)
{
    const char *type = type_of(m, matrix);
    unsigned bits = bits_of(type, m->is_packed);
    bool is_factor = matrix == MATRIX_A || matrix == MATRIX_B;
    bool is_half = strcmp(type, "f16") == 0;
    unsigned elements = matrix == MATRIX_A   ? m->m * m->k
                        : matrix == MATRIX_B ? m->k * m->n
                                             : m->m * m->n;

    if (m->is_sparse && matrix == MATRIX_A)
        elements /= 2;
    if (m->is_wmma && is_factor && is_half)
        elements = WMMA_HALVES * WARP;
    if (!m->is_wmma && m->m == 8 && m->k == 4 && strcmp(type, "f64") != 0)
        elements *= 4;
    rule->bits = bits == 64 ? 64 : 32;
    rule->lanes = (uint8_t)(elements * bits / WARP / rule->bits);
}

/* If operand number `operand` of an instruction with these modifiers is a thread's part of a matrix
 * of mma or wmma (PTX ISA, "Matrix Fragments"), sets the size of its vector in its rule. */
static void set_fragment(struct operand_rule *rule, uint16_t opcode, const uint16_t *modifiers,
                         size_t count, unsigned operand)
{
    const char *name = opcode_get(opcode)->name;
    struct multiplication m = {.is_wmma = strcmp(name, "wmma") == 0};
    const char *first, *of;

    if (!m.is_wmma && strcmp(name, "mma") != 0)
        return;
    read_modifiers(&m, modifiers, count);
    first = modifier_name(modifiers[0]);
    of = modifier_name(modifiers[1]);
    if (!m.is_wmma || strcmp(first, "mma") == 0) {
        if (operand <= MATRIX_C)
            set_size(rule, &m, (enum matrix)operand);
    } else if (operand == (strcmp(first, "load") == 0 ? 0u : 1u)) { /* wmma.load.a: one matrix */
        set_size(rule, &m, *of == 'a' ? MATRIX_A : *of == 'b' ? MATRIX_B : MATRIX_C);
    }
}

void syntax_rule_read(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers,
                      size_t count)
{
    struct words_seen seen = look(modifiers, count);

    for (const char *at = syntax->row->operands; *at;) {
        struct text word = {at, strcspn(at, " ")};
        struct text item = operand_with(word, modifiers, count);

        at += word.size + (at[word.size] == ' ');
        if (item.size == 0)
            continue;
        if (syntax->rule_count == SYNTAX_OPERANDS)
            return;
        struct operand_rule *rule = &syntax->rules[syntax->rule_count++];

        *rule = (struct operand_rule){0};
        take_item(item, &seen, rule);
        if (rule->kind == RULE_PARTS)
            set_fragment(rule, opcode, modifiers, count, syntax->rule_count - 1u);
        syntax->required = (uint8_t)(syntax->required + !(rule->flags & RULE_OPTIONAL));
    }
}
