/* form.h: how many operands an instruction takes and which of them it writes, where that depends on
 * its modifiers: `cp.async.wait_all` takes none, `cp.async.bulk.tensor` up to six. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "toy/language/body.h"

enum form_flag {
    FORM_ACCUMULATES = 1, /* the first operand is read and written */
};

struct form {
    uint8_t least_operands;
    uint8_t most_operands;
    uint8_t results; /* operands that are written, from the front */
    uint8_t flags;   /* enum form_flag */
};

/* The form of an opcode with these modifiers (numbers of the tables). An opcode with FORMS of which
 * none applies has its row of the opcode table. */
struct form form_of(uint16_t opcode, const uint16_t *modifiers, size_t count);

/* The same for a parsed instruction; knows that a call writes its first operand when that is a list
 * with a function behind it: call (r), f. */
struct form form_of_instruction(const struct instruction *instruction);

/* Finds the form, and notes in the instruction what later steps want to know of it. */
struct form form_complete(struct instruction *instruction);

/* Makes an instruction of `opcode` with modifiers, a list that ends with NULL, and these operands,
 * which are copied; all in `arena`. */
struct instruction form_instruction(struct arena *arena, uint16_t opcode,
                                    const char *const *modifiers, const struct operand *operands,
                                    uint8_t operand_count);

/* The number of rows of form_table.def, and row `index` as opcode and dotted words: for tests and
 * for listing what the assembler knows. */
size_t form_count(void);
const char *form_words(size_t index, uint16_t *opcode, struct form *form);
