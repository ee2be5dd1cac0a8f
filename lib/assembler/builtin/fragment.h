/* fragment.h: what a thread holds of the matrices of mma and wmma (PTX ISA, "Matrix Fragments"). */
#ifndef MINILINK_BUILTIN_FRAGMENT_H
#define MINILINK_BUILTIN_FRAGMENT_H

#include "assembler/builtin/body.h"

/* What is wrong with one of the instruction's operands, when it stands for a matrix and is not the
 * vector of registers that the shape and the types want; NULL when nothing is, or when the operand
 * is none. */
const char *fragment_problem(const struct body *body, const struct instruction *instruction,
                             const struct operand *operand);

#endif
