/* expression.h: constant expressions (PTX ISA, "Constant Expressions").
 *
 * Integers have 64 bits and wrap. They are signed unless they end with U, do not fit, or are cast;
 * an operation on an unsigned operand gives an unsigned result. Floats are doubles and do not mix
 * with integers; a bit pattern (0f) must stand alone. Measured on ptxas: shift counts are taken
 * modulo 64, % treats its operands as unsigned, ~ gives an unsigned number, and a condition gives
 * the operand that it selects, with that operand's signedness. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/lexer.h"

/* State of the reader. `token` is the current token; tokens from `end` on are not read. */
struct expression {
    struct lexer lexer;
    struct token token;
    size_t end;
    const char *fault; /* error text once reading has failed; its place is `place` */
    size_t place;
};

/* Moves to the next token: TOKEN_END at the end, and after a fault. */
void expression_next(struct expression *expression);

/* Sets the fault unless there is one. Returns 0. */
struct constant expression_fail(struct expression *expression, size_t place, const char *fault);

/* Reads the longest expression; the token after it is then the current one. */
struct constant expression_read(struct expression *expression);
