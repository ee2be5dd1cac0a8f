/* body.h: one function's body as instructions: made by parse_body(), completed by the register
 * allocator, read by the encoder. */
#pragma once

#include "base/memory.h"
#include "diag/diag.h"
#include "facts/targets.h"
#include "ptx/module.h"

#define NO_INDEX UINT32_MAX

enum register_class {
    REGISTER_PREDICATE, /* .pred: P0..P6 */
    REGISTER_32,        /* 8-, 16- and 32-bit: one general register */
    REGISTER_64,        /* an aligned pair */
    REGISTER_128,       /* an aligned quadruple */
    REGISTER_CLASSES,
};

/* The physical "register" of this number is the first word of the frame's area for registers that
 * are spilled; the next has the next number. */
#define REGISTERS_SPILLED 256u

/* A register that the PTX declares; `.reg .b32 %r<7>;` gives seven. */
struct virtual_register {
    struct text name;  /* "%r1" */
    uint8_t class;     /* enum register_class */
    uint8_t bits;      /* 1, 8, 16, 32, 64, 128 */
    uint16_t physical; /* first physical register; set by the allocator */
    char type;         /* 'b' bits, 'u' 's' integers, 'f' .f32 .f64, 'p' predicate; 0 = unknown */
    uint8_t lanes;     /* .v2 .v4: their number; else 0 or 1 */
    bool is_parameter; /* of the function */
};

enum operand_kind {
    OPERAND_REGISTER,
    OPERAND_IMMEDIATE, /* integer or float bit pattern */
    OPERAND_SPECIAL,   /* %tid.x, %laneid, WARP_SZ ... */
    OPERAND_SYMBOL,    /* address of a variable or function, + offset */
    OPERAND_ADDRESS,   /* [base + offset], base a register, a symbol or nothing */
    OPERAND_LABEL,     /* branch target in this body, or table label */
    OPERAND_VECTOR,    /* {a, b, ...}: elements follow in `elements` */
    OPERAND_SINK,      /* _ */
    OPERAND_LIST,      /* (a, b): argument list of a call */
    OPERAND_NAME,      /* an indirect call's prototype or target list: `label` is set */
};

/* What is written at an operand. The numbers are part of the encoding. */
enum operand_part {
    PART_NONE,
    PART_LANE,    /* .x or .r after a register */
    PART_BYTES,   /* .b0, .b3210 */
    PART_HALVES,  /* .h0, .h10 */
    PART_PAIR,    /* a VECTOR of two that was written p|q */
    PART_UNIFIED, /* .unified after an ADDRESS */
    OPERAND_PARTS,
};

struct operand {
    uint8_t kind;           /* enum operand_kind */
    bool is_negated;        /* -x */
    bool is_inverted;       /* !p */
    uint8_t immediate_bits; /* width of a 0f/0d literal: 32 or 64; 0 = integer */
    uint8_t part;           /* enum operand_part */
    /* 0 none; 1 + index of .x .y .z .w (or .b0 .h1 ...); a selector of several digits (.b3210):
     * number of digits << 12, digits in 3 bits each, the first in the highest */
    uint16_t component;
    uint32_t
        reg; /* REGISTER, ADDRESS with a register base: index in body.registers; else NO_INDEX */
    uint32_t symbol; /* SYMBOL, ADDRESS with a symbol base: index in body.symbols; else NO_INDEX */
    uint32_t label;  /* LABEL: index in body.labels; SPECIAL: special register number */
    int64_t value;   /* IMMEDIATE bits; offset of SYMBOL and ADDRESS */
    /* VECTOR, LIST; of an ADDRESS what follows its base: [map, {x, y}] has one, a VECTOR */
    struct operand *elements;
    uint32_t element_count;
    struct text text; /* as written (its first word), for messages and NAME */
};

#define INSTRUCTION_MODIFIERS 16 /* at most */

struct instruction {
    uint16_t opcode; /* index in the opcode table */
    uint8_t modifier_count;
    uint8_t operand_count;
    uint32_t guard; /* predicate register @p, index in body.registers, or NO_INDEX */
    bool guard_negated;
    uint8_t results;    /* syntax_note_results(): operands that are written, from the front */
    bool is_accumulate; /* syntax_note_results(): the first is read as well */
    uint32_t line;      /* in the chunk, from 1 */
    uint32_t address;   /* bytes from the start of the function: set by the encoder */
    const uint16_t *modifiers; /* indices in the modifier table, types among them, in order */
    struct operand *operands;
};

struct label {
    struct text name;
    uint32_t instruction; /* index of the instruction that it stands before; may equal the count */
    struct operand *targets; /* .branchtargets / .calltargets lists; NULL for a plain label */
    uint32_t target_count;
    uint32_t holder; /* the encoder's: address of the instruction that has the list, or NO_INDEX */
    struct ptx_function *prototype; /* .callprototype; NULL for others */
};

/* How a function's code uses one of its symbols. */
enum symbol_use {
    USE_CALLED = 1,  /* by name, or as one of the targets of an indirect call */
    USE_ADDRESS = 2, /* a function's address is taken */
    USE_CODE = 4,    /* any other way */
};

/* A name in a body other than a register or label: a module-level symbol, a parameter, or a
 * variable declared in the body. */
struct body_symbol {
    struct text name;
    uint32_t global; /* module-level symbols: index in the scope */
    uint32_t object; /* of variables: index in the data's objects; set by data.c, else NO_INDEX */
    uint8_t uses;    /* enum symbol_use; set by compile.c */
    bool is_function;
    bool is_body_variable; /* declared in this body, or a parameter */
    bool is_parameter;     /* of this function */
    bool is_return;        /* return parameter of a .func */
    uint8_t space;         /* enum ptx_space; PTX_SPACE_TEX: a texture, sampler or surface */
    uint32_t alignment;    /* of body variables and parameters */
    uint64_t size;         /* bytes; 0 = unsized */
    uint64_t offset; /* of .local, .param: in the frame or parameter area; set by the driver */
    uint8_t type; /* enum ptx_type (ptx/module.h) of one element of a body variable or parameter */
    const struct ptx_item *item; /* declaration of a body variable; NULL for others */
};

struct body {
    struct arena *arena;
    struct arena *declared; /* for names and declarations of its variables; may outlive the body */
    struct text function;   /* name */
    struct virtual_register *registers;
    size_t register_count;
    struct instruction *instructions;
    size_t instruction_count;
    struct label *labels;
    size_t label_count;
    struct body_symbol *symbols;
    size_t symbol_count;
};

/* The context of a body. `lookup` finds a module-level symbol of the chunk by symbol->name: true if
 * there is one, with `is_function`, `space` and `global` set. */
struct parse_scope {
    const char *file;    /* for messages */
    struct text whole;   /* the chunk's text; the body is a view of it, for places in messages */
    uint32_t first_line; /* of the body's first byte in `whole`, from 1 */
    uint16_t version;    /* of PTX, 10 * major + minor; 0 = all are allowed */
    struct arch target;  /* of the module; sm 0 = all are allowed */
    bool (*lookup)(const void *argument, struct body_symbol *symbol);
    const void *argument;
};

/* Parses `text`, "{ ... }", into *body (the caller has set arenas and function, and may have added
 * the parameters as symbols or registers). Errors are reported with their place, up to a limit;
 * false if there was one. */
bool parse_body(struct body *body, struct text text, const struct parse_scope *scope);
