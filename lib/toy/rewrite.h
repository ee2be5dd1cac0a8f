/* rewrite.h: a body's instructions copied with others in between. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "toy/language/body.h"

struct rewrite {
    struct body *body;
    struct instruction *out;
    size_t count;
    size_t capacity;
    uint32_t *moved; /* instruction -> the first of those that stand for it */
};

void rewrite_begin(struct rewrite *rewrite, struct body *body);

/* What is added from here on stands for instruction `index`, or for the end, whose index is their
 * number: labels there stand before it. Called for each. */
void rewrite_at(struct rewrite *rewrite, size_t index);

/* Adds an instruction as it is. */
void rewrite_copy(struct rewrite *rewrite, const struct instruction *instruction);

/* Adds `opcode` with modifiers, a list that ends with NULL, and these operands, which are copied;
 * its place in the source is that of `like`. It writes its first operand, unless it is a store. */
void rewrite_add(struct rewrite *rewrite, const struct instruction *like, uint16_t opcode,
                 const char *const *modifiers, const struct operand *operands, uint8_t count);

/* Gives the body the new instructions and moves its labels along. */
void rewrite_end(struct rewrite *rewrite);

/* Operands: a register, a number, [symbol + offset]. */
struct operand rewrite_register(uint32_t reg);
struct operand rewrite_immediate(int64_t value);
struct operand rewrite_address(uint32_t symbol, uint64_t offset);
