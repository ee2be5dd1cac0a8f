/* encode.h: instructions to 16-byte words, and back to text: encode.c writes them, encode_print.c
 * reads and prints them.
 *
 * The encoding is minilink's own; minilink-cubin(5), BUILT-IN CODE, describes it. It loses nothing:
 * opcode, modifiers, guard, operands and immediates can be printed back. Relocated fields stand
 * where sm_90's do, so that one merger serves all assemblers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "language/body.h"

#define CODE_WORD_SIZE      16u
#define CODE_SLOTS          4u /* of the head word */
#define CODE_HEAD_MODIFIERS 3u
#define CODE_WORD_MODIFIERS 12u
#define CODE_MODIFIER_BITS  10u
#define CODE_MOST_WORDS     0xffffu
#define CODE_DEEPEST_GROUP  8u /* groups in groups */

/* The kind of an operand in the code: enum operand_kind + 1, or one of these. */
enum code_kind {
    CODE_NONE = 0,
    CODE_HIGH = 14, /* the word of an address's upper half */
    CODE_LONG = 15, /* of a slot: the operand has words of its own */
};

#define CODE_KIND(kind) ((kind) + 1u)

/* The layout of each word: fields from the lowest bit on, on machines that are little-endian, as
 * all are that minilink runs on. */

struct code_head {
    uint64_t opcode : 12;
    uint64_t zero : 3;
    uint64_t is_guarded : 1; /* the first operand is the guard */
    uint64_t words : 16;     /* of the instruction, with this one */
    uint64_t modifiers : 30; /* ten bits each */
    uint64_t modifier_words : 2;
    uint16_t slots[CODE_SLOTS];
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

/* An operand in a slot. SPECIAL and IMMEDIATE have twelve bits after the kind, SINK and NAME none,
 * REGISTER and ADDRESS these. */
struct code_slot {
    uint16_t kind : 4;
    uint16_t class : 2;
    uint16_t number : 8;
    uint16_t is_negated : 1;
    uint16_t is_inverted : 1;
};

_Static_assert(sizeof(struct code_head) == CODE_WORD_SIZE, "head");
_Static_assert(sizeof(struct code_word) == CODE_WORD_SIZE, "word");
_Static_assert(sizeof(struct code_slot) == sizeof(uint16_t), "slot");

/* encode_print.c: the word that a slot is short for; kind LONG for no such slot. */
struct code_word code_word_of_slot(uint16_t slot);

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

/* Appends the body's code to `code` and its relocations to `relocations` (by ascending offset);
 * sets each instruction's address. Registers must have been allocated and symbol offsets set.
 * False, with an error at the instruction's line in `file`, for what cannot be encoded. */
bool encode_body(struct body *body, const char *file, struct buffer *code,
                 struct code_relocations *relocations);

/* Prints the instruction that begins at `offset` in `code` as one line without newline, e.g. "@P0
 * ld.global.f32 R4, [R2+16]". `symbol` names the target of a relocated field (may be NULL, or
 * return NULL). Accepts any bytes: returns the instruction's size in bytes, or 0, with nothing
 * printed, if the words are not an instruction. */
size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument);
