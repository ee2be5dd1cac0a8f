/* fragment.c: sizes of fragments from the shape and the types.
 *
 * A warp's 32 threads share a matrix evenly, in 32-bit registers. Exceptions: fragments of .f16 in
 * wmma have the same size for all shapes, and mma.m8n8k4 of .f16 is four matrices at once. */
#include <stdio.h>
#include <string.h>

#include "toy/language/opcode.h"
#include "toy/language/syntax.h"

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

static bool size_of(struct fragment *fragment, const struct multiplication *m, enum matrix matrix)
{
    const char *type = type_of(m, matrix);
    unsigned bits = type ? bits_of(type, m->is_packed) : 0;
    bool is_factor = matrix == MATRIX_A || matrix == MATRIX_B;
    bool is_half = type && strcmp(type, "f16") == 0;
    unsigned elements = matrix == MATRIX_A   ? m->m * m->k
                        : matrix == MATRIX_B ? m->k * m->n
                                             : m->m * m->n;

    if (bits == 0 || elements == 0)
        return false;
    if (m->is_sparse && matrix == MATRIX_A)
        elements /= 2;
    if (m->is_wmma && is_factor && is_half)
        elements = WMMA_HALVES * WARP;
    if (!m->is_wmma && m->m == 8 && m->k == 4 && strcmp(type, "f64") != 0)
        elements *= 4;
    fragment->bits = bits == 64 ? 64 : 32;
    fragment->registers = (uint16_t)(elements * bits / WARP / fragment->bits);
    return fragment->registers > 0;
}

/* wmma.load.a and similar instructions have one matrix. */
static bool transfer(struct fragment *fragment, const struct multiplication *m, const char *what,
                     const char *name, unsigned operand)
{
    bool is_load = strcmp(what, "load") == 0;

    if (operand != (is_load ? 0u : 1u))
        return false;
    return size_of(fragment, m, *name == 'a' ? MATRIX_A : *name == 'b' ? MATRIX_B : MATRIX_C);
}

bool fragment_of(struct fragment *fragment, uint16_t opcode, const uint16_t *modifiers,
                 size_t count, unsigned operand)
{
    const char *name = opcode_get(opcode)->name;
    struct multiplication m = {.is_wmma = strcmp(name, "wmma") == 0};
    const char *first;

    if ((!m.is_wmma && strcmp(name, "mma") != 0) || count < 2)
        return false;
    read_modifiers(&m, modifiers, count);
    first = modifier_name(modifiers[0]);
    if (m.is_wmma && strcmp(first, "mma") != 0)
        return transfer(fragment, &m, first, modifier_name(modifiers[1]), operand);
    return operand <= MATRIX_C && size_of(fragment, &m, (enum matrix)operand);
}

const char *fragment_problem(const struct fragment *fragment, const struct body *body,
                             const struct operand *operand)
{
    if (operand->kind == OPERAND_REGISTER && fragment->registers > 1 &&
        body->registers[operand->reg].lanes == fragment->registers)
        return NULL;
    if (operand->kind != OPERAND_VECTOR)
        return "a vector is needed";
    if (operand->element_count != fragment->registers)
        return "the vector is not as large as the matrix wants";
    for (unsigned i = 0; i < operand->element_count; i++) {
        const struct operand *element = &operand->elements[i];

        if (element->kind == OPERAND_REGISTER && body->registers[element->reg].lanes <= 1 &&
            body->registers[element->reg].bits != fragment->bits)
            return "a register of the vector has the wrong size";
    }
    return NULL;
}
