/* expression.h: constant expressions (PTX ISA, "Constant Expressions").
 *
 * Integers have 64 bits and wrap; they are signed unless they end with U, do not fit, or are cast,
 * and what is made of an unsigned one is unsigned. Floats are doubles, and are not mixed with
 * integers; the bit pattern 0f stands alone. Measured on ptxas 13.0: counts of shifts are taken
 * modulo 64, % takes its operands for unsigned, ~ gives an unsigned number, and a condition gives
 * the operand that it chooses with the signedness of that operand. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/lexer.h"

enum constant_kind {
    CONSTANT_SIGNED,
    CONSTANT_UNSIGNED,
    CONSTANT_SINGLE, /* 0f: the bit pattern of a float */
    CONSTANT_DOUBLE, /* 0d, 1.5: the bit pattern of a double */
};

struct constant {
    uint64_t bits;
    uint8_t kind; /* enum constant_kind */
};

/* Where the reader is. `token` is the one at hand; tokens from `end` on do not count. */
struct expression {
    struct lexer lexer;
    struct token token;
    size_t end;
    const char *fault; /* what is wrong, when reading failed: at `place` */
    size_t place;
};

/* Reads one expression, as long as it goes; the token behind it is at hand then. */
bool expression_read(struct expression *expression, struct constant *constant);
