/* parse_spelling.h: opcodes with their modifiers, and what is known of those that stood before. */
#ifndef MINILINK_BUILTIN_PARSE_SPELLING_H
#define MINILINK_BUILTIN_PARSE_SPELLING_H

#include <stdbool.h>
#include <stdint.h>

#include "assembler/builtin/language/syntax.h"
#include "base/text.h"

struct instruction; /* language/body.h */
struct parser;

/* Operands of an instruction that parse_quick.c takes. */
#define PARSE_QUICK_OPERANDS 6u

/* Sorts of operands that parse_check has found to go together; count 0 = none. */
struct good_operands {
    uint8_t count;
    uint32_t sorts[PARSE_QUICK_OPERANDS]; /* parse_quick.c */
};

/* What is known of "ld.global.nc.u32". */
struct spelling {
    struct text text; /* in the chunk; empty = free */
    uint16_t opcode;
    uint8_t modifier_count;
    const uint16_t *modifiers;
    struct syntax syntax;
    bool is_plain;   /* operands are values and addresses only, */
    bool is_branch;  /* or one label */
    bool has_values; /* what an immediate may be depends on its value */
    uint8_t results; /* as in struct instruction, once `good` has an entry */
    bool is_accumulate;
    uint8_t next_good; /* the entry that the next one replaces */
    struct good_operands good[2];
};

/* Opcode and modifiers; sets parser->syntax. */
bool parse_spelling(struct parser *parser, struct instruction *instruction);

/* What is known of the spelling that begins with the token at hand; NULL when nothing is. */
struct spelling *parse_spelling_known(struct parser *parser);

#endif
