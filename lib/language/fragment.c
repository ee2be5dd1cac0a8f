/* fragment.c: sizes of fragments from the shape and the types.
 *
 * A warp's 32 threads share a matrix evenly, in 32-bit registers. Exceptions: fragments of .f16 in
 * wmma have the same size for all shapes, and mma.m8n8k4 of .f16 is four matrices at once. */
#include <stdio.h>
#include <string.h>

#include "language/opcode.h"
#include "language/syntax.h"

#define WARP 32u

/* Number of halves of A and of B in each thread, for any shape. */
#define WMMA_HALVES 16u

enum matrix { MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C };

/* Facts from the modifiers. */
struct multiplication {
    unsigned m, n, k;
    const char *types[4]; /* the first four, in order */
    unsigned type_count;
    bool is_wmma;
    bool is_sparse;
    bool is_packed; /* .e2m1 takes 4 bits, else 8 */
};

static unsigned bits_of(const char *type, bool is_packed)
{
    if (is_packed && strcmp(type, "e2m1") == 0)
        return 4;
    return modifier_type(text_of(type))->matrix_bits;
}

static void read_modifiers(struct multiplication *result, const uint16_t *modifiers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *word = modifier_name(modifiers[i]);

        if (word[0] == 'm' && sscanf(word, "m%un%uk%u", &result->m, &result->n, &result->k) == 3)
            continue;
        result->is_sparse |= strncmp(word, "sp", 2) == 0;
        result->is_packed |= strncmp(word, "kind::mxf4", 10) == 0;
        if (result->type_count < 4 && bits_of(word, false))
            result->types[result->type_count++] = word;
    }
}

/* .f16 wmma.mma only names the types of D and C. */
static const char *type_of(const struct multiplication *m, enum matrix matrix)
{
    if (m->type_count == 1)
        return m->types[0];
    if (m->type_count == 2)
        return matrix == MATRIX_D ? m->types[0] : matrix == MATRIX_C ? m->types[1] : "f16";
    return m->type_count == 4 ? m->types[matrix] : NULL;
}

static void set_size(struct operand_rule *rule, const struct multiplication *m, enum matrix matrix)
{
    const char *type = type_of(m, matrix);
    unsigned bits = type ? bits_of(type, m->is_packed) : 0;
    bool is_factor = matrix == MATRIX_A || matrix == MATRIX_B;
    bool is_half = type && strcmp(type, "f16") == 0;
    unsigned elements = matrix == MATRIX_A   ? m->m * m->k
                        : matrix == MATRIX_B ? m->k * m->n
                                             : m->m * m->n;

    if (bits == 0 || elements == 0)
        return;
    if (m->is_sparse && matrix == MATRIX_A)
        elements /= 2;
    if (m->is_wmma && is_factor && is_half)
        elements = WMMA_HALVES * WARP;
    if (!m->is_wmma && m->m == 8 && m->k == 4 && strcmp(type, "f64") != 0)
        elements *= 4;
    rule->bits = bits == 64 ? 64 : 32;
    rule->lanes = (uint8_t)(elements * bits / WARP / rule->bits);
}

void fragment_set(struct operand_rule *rule, uint16_t opcode, const uint16_t *modifiers,
                  size_t count, unsigned operand)
{
    const char *name = opcode_get(opcode)->name;
    struct multiplication m = {.is_wmma = strcmp(name, "wmma") == 0};
    const char *first, *of;

    if ((!m.is_wmma && strcmp(name, "mma") != 0) || count < 2)
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
