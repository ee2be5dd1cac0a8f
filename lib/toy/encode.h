/* encode.h: instructions to 16-byte words, and back to text: encode.c writes them, encode_print.c
 * reads and prints them.
 *
 * The encoding is minilink's own; minilink-cubin(5), BUILT-IN CODE, describes it. It loses nothing:
 * opcode, modifiers, guard, operands and immediates can be printed back. Relocated fields stand
 * where sm_90's do, so that one merger serves all assemblers. */
#pragma once

#include <stdbool.h>

#include "language/body.h"

#define CODE_WORD_SIZE     16u
#define CODE_MOST_WORDS    0xffffu
#define CODE_DEEPEST_GROUP 8u /* groups in groups */

/* The kind of an operand in the code: enum operand_kind + 1, or this. */
#define CODE_KIND(kind) ((kind) + 1u)
#define CODE_HIGH       14u /* the word of an address's upper half */

/* The layouts: fields from the lowest bit on, on machines that are little-endian, as all are that
 * minilink runs on. */

/* Begins an instruction. Its modifiers follow, 16 bits each, and zeros up to a whole word; then the
 * words of its operands. */
struct code_head {
    uint16_t opcode : 12;
    uint16_t is_guarded : 1; /* the first operand is the guard */
    uint16_t head_words : 3; /* of the head and the modifiers */
    uint16_t words;          /* of the instruction, with those */
};

/* An operand. */
struct code_word {
    uint64_t kind : 4;
    uint64_t is_negated : 1;
    uint64_t is_inverted : 1;
    uint64_t part : 3; /* enum operand_part */
    uint64_t form : 3; /* SYMBOL, ADDRESS: enum code_reference; IMMEDIATE: width of a 0f or 0d
                          literal in words of 32 bits */
    uint64_t has_register : 1;
    uint64_t class : 2;
    uint64_t number : 16;      /* from REGISTERS_SPILLED on, a place in the frame */
    uint64_t has_elements : 1; /* ADDRESS: a LIST of what follows its base comes next */
    uint64_t payload : 32; /* VECTOR, LIST: number of elements, which follow; SPECIAL: its number;
                              REGISTER: component; SYMBOL, ADDRESS: the relocated field */
    int64_t value;         /* IMMEDIATE; addend or offset of SYMBOL, ADDRESS; distance of LABEL */
};

_Static_assert(sizeof(struct code_head) == 4, "head");
_Static_assert(sizeof(struct code_word) == CODE_WORD_SIZE, "word");

/* What an address or symbol refers to, and the relocation of its field. */
enum code_reference {
    CODE_NO_REFERENCE = 0,
    CODE_ADDRESS_PAIR = 1, /* global or function address: R_CUDA_ABS32_LO_32, R_CUDA_ABS32_HI_32 */
    CODE_SHARED = 2,       /* R_CUDA_ABS32_32: bits 32-63, in the shared window */
    CODE_CONSTANT = 3,     /* constant, or texture, sampler or surface reference:
                            * R_CUDA_CONST_FIELD21_38: bits 38-53 offset, 54-58 bank */
    CODE_CALL = 4,         /* R_CUDA_ABS55_16_34, which linkers keep and do not write; in a program
                            * the place of the function in the section, without a relocation */
    CODE_PARAMETER = 5,    /* no relocation: bits 64-127 are the place among the own parameters; of
                            * a kernel, in constant bank 0 */
    CODE_LOCAL = 6,        /* no relocation: bits 64-127 count from the function's frame */
    CODE_ARGUMENT = 7,     /* no relocation: .param of a call, in the argument area */
};

/* A field for the merger to fill in. */
struct code_relocation {
    uint64_t offset; /* bytes from the start of the function, of the 16-byte word */
    uint32_t type;   /* enum cubin_relocation_type */
    const struct body_symbol *symbol;
    int64_t addend;
};

struct code_relocations {
    struct code_relocation *list; /* in the body's arena */
    size_t count;
    size_t capacity;
};

/* Puts the body's code into `code`, which is empty, and its relocations into `relocations` (by
 * ascending offset); sets each instruction's address. Registers must have been allocated and symbol
 * offsets set. False, with an error at the instruction's line in `file`, for what cannot be
 * encoded. */
bool encode_body(struct body *body, const char *file, struct buffer *code,
                 struct code_relocations *relocations);

/* Prints the instruction that begins at `offset` in `code` as one line without newline, e.g. "@P0
 * ld.global.f32 R4, [R2+16]". `symbol` names the target of a relocated field (may be NULL, or
 * return NULL). Accepts any bytes: returns the instruction's size in bytes, or 0, with nothing
 * printed, if the words are not an instruction. */
size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument);
