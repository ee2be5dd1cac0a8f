/* parse_names.h: what a name means in the block at hand: a register, a variable, or one of a range
 * of registers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text.h"
#include "toy/language/body.h"

struct parser;

enum declaration_kind { DECLARED_REGISTER, DECLARED_SYMBOL, DECLARED_RANGE };

/* A name in a scope. Names of one scope are chained; an entry remembers the one that it hides. */
struct declaration {
    struct text name; /* of a range: its prefix */
    uint32_t index;   /* in body.registers or body.symbols; of a range: in names.ranges */
    uint32_t depth;   /* of the scope; 0 = outside the body's braces */
    uint32_t hidden;  /* declaration with the same name in an outer scope, or NO_INDEX */
    uint32_t next;    /* declared before it in the same scope, or NO_INDEX */
    uint8_t kind;     /* enum declaration_kind */
};

/* `.reg .b32 %r<7>;`: a register comes into being when it is first named. */
struct register_range {
    uint32_t count;
    struct virtual_register model; /* what its registers are, but for their names */
};

struct open_scope {
    uint32_t declarations; /* newest of the scope, or NO_INDEX */
    uint32_t range_depth;  /* innermost scope with a range, this one included; 0 = none */
};

struct names {
    struct table words;  /* name -> declaration of a register or symbol */
    struct table ranges; /* prefix -> declaration of a range */
    struct declaration *declarations;
    size_t declaration_count;
    size_t declaration_capacity;
    struct register_range *range_list;
    size_t range_count;
    size_t range_capacity;
    size_t room;              /* variables that ranges of them (x<4>) may still declare */
    uint32_t given_registers; /* the first of the body's, which are parameters */
    uint32_t given_symbols;
    struct open_scope *scopes; /* scopes[depth] */
    size_t scope_count;
    size_t scope_capacity;
};

/* Begins with scope 0, into which the body's registers and symbols are entered. `size` is that of
 * the body's text, in bytes: ranges of variables declare no more of them. False, and an error, when
 * two have one name. */
bool parse_names_begin(struct parser *parser, size_t size);

/* A block begins; what is declared from here on hides outer names until it ends. */
void parse_names_open(struct parser *parser);
void parse_names_close(struct parser *parser);

/* Declares a register, or a range when `count` is not NO_INDEX. False when the name is taken. */
bool parse_names_register(struct parser *parser, struct text name, uint32_t count,
                          const struct virtual_register *model);

/* Declares a variable of the body. False when the name is taken. */
bool parse_names_symbol(struct parser *parser, const struct body_symbol *symbol);

/* What `name` means here: a register or symbol and its index; module-level symbols are entered into
 * the body when first met. False when it means nothing. */
bool parse_names_find(struct parser *parser, struct text name, uint8_t *kind, uint32_t *index);
