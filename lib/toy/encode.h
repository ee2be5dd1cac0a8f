/* encode.h: instructions to 16-byte words, and back to text: encode.c writes them, decode.c reads
 * them, encode_print.c prints them.
 *
 * The encoding is minilink's own; minilink-cubin(5), BUILT-IN CODE, describes it. It loses nothing:
 * opcode, modifiers, guard, operands and immediates can be printed back. Relocated fields stand
 * where sm_90's do, so that one merger serves all assemblers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "toy/language/body.h"

#define CODE_WORD_SIZE          16u
#define CODE_SLOTS              4u /* of the head word */
#define CODE_PACKED_SLOTS       8u /* of a packed word */
#define CODE_HEAD_MODIFIERS     3u
#define CODE_WORD_MODIFIERS     12u
#define CODE_NO_GUARD           7u
#define CODE_MOST_WORDS         0xffffu
#define CODE_DEEPEST_GROUP      8u /* groups in groups */
#define CODE_MOST_BASE_ELEMENTS 31u

enum code_kind {
    CODE_NONE = 0,
    CODE_REGISTER = 1,
    CODE_IMMEDIATE = 2,
    CODE_SPECIAL = 3,
    CODE_SINK = 4,
    CODE_ADDRESS = 5,
    CODE_SYMBOL = 6,
    CODE_LABEL = 7,
    CODE_VECTOR = 8,
    CODE_LIST = 9,
    CODE_NAME = 10, /* an indirect call's prototype, which is not in the code */
    CODE_HIGH = 11,
    CODE_MORE = 14,
    CODE_LONG = 15,
};

enum code_part {
    CODE_WHOLE = 0,
    CODE_LANE = 1,    /* .x .y .z .w */
    CODE_BYTES = 2,   /* .b0, .b3210 */
    CODE_HALVES = 3,  /* .h0, .h10 */
    CODE_PAIR = 4,    /* VECTOR: written p|q */
    CODE_UNIFIED = 5, /* ADDRESS: .unified */
    CODE_PARTS,
};

/* decode.c: operand.component_kind of each enum code_part. */
extern const uint8_t code_part_kinds[CODE_PARTS];

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

/* One word, as two halves. */
struct code_word {
    uint64_t low;
    uint64_t high;
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
 * return NULL). Returns the instruction's size in bytes, or 0 if the words are not an instruction.
 */
size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument);

/* decode.c: the field of `size` bits (at most 63) from `bit`, in one half. */
uint64_t code_field(uint64_t half, unsigned bit, unsigned size);

/* decode.c: decodes words to an instruction, for printing or executing it. */

/* Decodes the instruction at `offset` into memory from `arena`. Accepts any bytes: returns the
 * instruction's size in bytes, or 0 if the words are not an instruction. Needs memory in proportion
 * to that size.
 *
 * Operands are as the parser makes them, with these differences: registers are physical, `reg`
 * being class << 8 | number, and `guard` a predicate's number or CODE_NO_GUARD; `symbol` is an enum
 * code_reference, or NO_INDEX for none; `label` of a SYMBOL or ADDRESS with a reference is the
 * offset of its word from the instruction's start; `value` of a LABEL is the distance in bytes from
 * the instruction's start; `text` is empty. */
size_t decode_instruction(struct bytes code, size_t offset, struct arena *arena,
                          struct instruction *result);
