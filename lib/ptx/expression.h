/* expression.h: constant expressions (PTX ISA, "Constant Expressions").
 *
 * Integers have 64 bits and wrap. They are signed unless they end with U, do not fit, or are cast;
 * an operation on an unsigned operand gives an unsigned result. Floats are doubles and do not mix
 * with integers; a bit pattern (0f) must stand alone. Measured on ptxas: shift counts are taken
 * modulo 64, % treats its operands as unsigned, ~ gives an unsigned number, and a condition gives
 * the operand that it selects, with that operand's signedness. */
#pragma once

#include "ptx/parser.h"

/* Reads the longest expression from the current token on; the token after it is then the current
 * one. */
struct constant expression_read(struct parser *parser);

/* Fails with an error at `place` that says where the fault is: at that token, or in which
 * variable's initial value. Returns 0. */
struct constant expression_fail(struct parser *parser, size_t place, const char *fault);

/* Moves past a mark that must stand here. */
void expression_mark(struct parser *parser, char mark, const char *fault);
