/* internal.h: the state shared by the files of the body parser (parse*.c).
 *
 * Errors are those of ptx/parser.h: after one, nothing moves until the statement has ended. */
#pragma once

#include "ptx/parser.h"
#include "language/syntax.h"

/* Deepest nesting of blocks: compilers nest two or three. */
#define PARSE_DEEPEST_BLOCK 1000u

/* The meaning of a name in the current block: a register, also of a range, or a variable. */

enum declaration_kind { DECLARED_REGISTER, DECLARED_SYMBOL, DECLARED_RANGE };

/* A name in a scope. Names of one scope are chained; each has the index of what it hides. */
struct declaration {
    struct text name; /* of a range: its prefix */
    uint32_t index;   /* in body.registers or body.symbols; of a range: in names.ranges */
    uint32_t depth;   /* of the scope; 0 = the module, 1 = the body and the parameters */
    uint32_t hidden;  /* declaration with the same name in an outer scope, or NO_INDEX */
    uint32_t next;    /* declared before it in the same scope, or NO_INDEX */
    uint8_t kind;     /* enum declaration_kind */
};

/* `.reg .b32 %r<7>;`: a register is created when it is first named. */
struct register_range {
    uint32_t count;
    struct virtual_register model; /* properties of its registers, except their names */
};

/* The module's, the body's, or a block's around the current place. */
struct scope {
    uint32_t declaration; /* the newest, or NO_INDEX */
    uint32_t label;       /* its last one so far, or NO_INDEX */
    uint32_t first_use;   /* of labels */
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
    struct scope *scopes; /* by depth */
    size_t scope_count;
    size_t scope_capacity;
};

/* Labels, which may be used before they are defined; the innermost block's definition is meant. */

struct label_name {
    uint32_t use;   /* the newest use without a label, or NO_INDEX */
    uint32_t label; /* of the block that is being closed, or NO_INDEX */
};

struct label_use {
    struct text name;
    size_t offset;  /* in the text */
    uint32_t next;  /* use of the name before it that has no label either, or NO_INDEX */
    uint32_t label; /* NO_INDEX until its block is closed */
};

struct label_place {
    size_t offset;  /* in the text */
    uint32_t name;  /* index in labels.names */
    uint32_t next;  /* label before it in the same block, or NO_INDEX */
    bool is_double; /* one before it in the same block has its name */
};

struct labels {
    struct table table; /* name -> index in `names` */
    struct label_name *names;
    size_t name_count;
    size_t name_capacity;
    struct label_place *places; /* parallel to body.labels */
    size_t place_count;
    size_t place_capacity;
    struct label_use *uses;
    size_t use_count;
    size_t use_capacity;
};

struct body_parser {
    struct body *body;
    const struct parse_scope *scope;
    struct parser base; /* over `whole` up to the body's end: offsets count from whole.data; it has
                           counted lines up to the last instruction or declaration */
    struct syntax syntax; /* of the current instruction */
    struct names names;
    struct labels labels;
    struct operand *operands; /* stack of the operands being read */
    size_t operand_count;
    size_t operand_capacity;
    /* capacities of the body's arrays, which are in its arena */
    size_t register_capacity;
    size_t instruction_capacity;
    size_t label_capacity;
    size_t symbol_capacity;
};

/* The current token: whether it is this character, and its text. */
static inline bool parse_at(const struct body_parser *parser, char mark)
{
    return parser->base.token.mark == mark;
}

static inline struct text parse_text(const struct body_parser *parser)
{
    return parser_text(&parser->base);
}

/* parse_check.c: checks the `given` operands, the first of which is at `place`, against the
 * instruction's rows of syntax_table.def, and notes which of them are results. */
void parse_check(struct body_parser *parser, struct instruction *instruction, size_t given,
                 size_t place);

/* parse_operand.c */

/* Reads comma-separated operands up to a `;` (not skipped) into the instruction. */
void parse_operands(struct body_parser *parser, struct instruction *instruction);

/* From the directive of a target table to its end: reads labels or symbols into it. */
void parse_operand_targets(struct body_parser *parser, struct label *label, bool are_labels);

/* Fails with an error about a name in the format, and the word that may be meant, or NULL. */
void parse_unknown(struct body_parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant);

/* parse_names.c */

/* Begins scope 0, for the module's names, and scope 1, the body's own, with the parameters: what
 * the body has so far. Reports those that have the same name. */
void parse_names_begin(struct body_parser *parser);

/* Begins a block, whose declarations hide outer names until it is closed. */
void parse_names_open(struct body_parser *parser);
void parse_names_close(struct body_parser *parser);

/* Declares a register, or a range if `count` is not NO_INDEX, or a variable of the body. False if
 * the name is taken. */
bool parse_names_register(struct body_parser *parser, const struct virtual_register *model,
                          uint32_t count);
bool parse_names_symbol(struct body_parser *parser, const struct body_symbol *symbol);

/* Finds the meaning of `name` here: a register or symbol, and its index. Module-level symbols are
 * added to the body when they are first met. False if the name is undeclared. */
bool parse_names_find(struct body_parser *parser, struct text name, uint8_t *kind, uint32_t *index);

/* Before the innermost block is closed: finds the uses of its labels. */
void parse_label_close(struct body_parser *parser);

/* Adds a label before the next instruction and returns its index in body.labels. */
uint32_t parse_label_define(struct body_parser *parser, struct text name, size_t offset);

/* Notes a use and returns its number, which operand.label holds until parse_label_resolve(). */
uint32_t parse_label_use(struct body_parser *parser, struct text name, size_t offset);

/* Replaces numbers in operands by indices of body.labels; reports undefined and double labels. */
void parse_label_resolve(struct body_parser *parser);
