/* fragment.h: what a thread holds of the matrices of mma and wmma (PTX ISA, "Matrix Fragments"). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body;
struct operand;

/* The vector that stands for a matrix. */
struct fragment {
    uint16_t registers; /* 0 = the operand is none */
    uint16_t bits;      /* of each register: 32, or 64 for .f64 */
};

/* True when operand number `operand` of an instruction with these modifiers is part of a matrix:
 * *fragment says how large. */
bool fragment_of(struct fragment *fragment, uint16_t opcode, const uint16_t *modifiers,
                 size_t count, unsigned operand);

/* What is wrong with an operand that stands for a matrix; NULL when it is the vector of registers
 * that the shape and the types want. */
const char *fragment_problem(const struct fragment *fragment, const struct body *body,
                             const struct operand *operand);
