/* parse_spelling.h: opcodes with their modifiers, and what those that stood before mean. */
#ifndef MINILINK_TOY_PARSE_SPELLING_H
#define MINILINK_TOY_PARSE_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"

struct instruction; /* language/body.h */
struct parser;
struct spelling; /* what is known of "ld.global.nc.u32" */

/* The spellings that the body has had so far; they lie in its arena. */
struct spellings {
    struct table texts; /* as written -> index in `list` */
    const struct spelling **list;
    size_t count;
    size_t capacity;
};

/* Opcode and modifiers; sets parser->syntax. */
bool parse_spelling(struct parser *parser, struct instruction *instruction);

/* Frees the table; the instructions keep what they have. */
void parse_spelling_free(struct parser *parser);

#endif
