/* decode.h: words back to an instruction, for printing and for whoever wants to execute it. */
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "toy/language/body.h"

/* Operands are as the parser makes them, with these differences: registers are physical, `reg`
 * being class << 8 | number; `symbol` is an enum code_reference (code.h), or NO_INDEX for none;
 * `label` of a SYMBOL or ADDRESS with a reference is the offset of its word from the instruction's
 * start; `value` of a LABEL is the distance in bytes from the instruction's start; `text` is empty.
 */
struct decoded {
    uint16_t opcode;
    uint8_t modifier_count;
    uint8_t operand_count;
    uint8_t guard; /* predicate number; 7 = none */
    bool guard_negated;
    uint16_t modifiers[INSTRUCTION_MODIFIERS];
    struct operand *operands; /* in the arena */
};

/* Decodes the instruction at `offset`. Any bytes may be given: returns the instruction's size in
 * bytes, or 0 when the words are no instruction. Needs memory in proportion to that size. */
size_t decode_instruction(struct bytes code, size_t offset, struct arena *arena,
                          struct decoded *result);
