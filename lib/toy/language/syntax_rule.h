/* syntax_rule.h: the operands of a row of syntax_table.def, ready to be compared with. */
#pragma once

#include "toy/language/syntax.h"

/* True when modifier `index` is the name of a type. */
bool syntax_is_type(uint16_t index);

/* Reads the row's operands into syntax->rules, given the instruction's opcode and words. */
void syntax_rule_read(struct syntax *syntax, uint16_t opcode, const char *operands,
                      const uint16_t *modifiers, size_t count);
