/* encode.h: instructions to 16-byte words, and back to text.
 *
 * The encoding is minilink's own; minilink-cubin(5) describes it bit by bit. It loses nothing:
 * opcode, modifiers, guard, operands and immediates can be printed back. Relocated fields stand
 * where sm_90's do, so that one merger serves all assemblers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "toy/language/body.h"

#define CODE_WORD_SIZE 16u

/* A field that the merger must fill in. */
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

/* Appends the body's code to `code` and its relocations to `relocations` (rising offsets); sets
 * each instruction's address. Registers must have been allocated and symbol offsets set. False,
 * with an error at the instruction's line in `file`, for what cannot be encoded. */
bool encode_body(struct body *body, const char *file, struct buffer *code,
                 struct code_relocations *relocations);

/* Prints the instruction that begins at `offset` in `code` as one line without newline, e.g.
 * "@P0 ld.global.f32 R4, [R2+16]". `symbol` names the target of a relocated field (may be NULL, or
 * return NULL). Returns the instruction's size in bytes, or 0 when the words are no instruction. */
size_t encode_print(struct bytes code, size_t offset, struct buffer *out,
                    const char *(*symbol)(void *argument, uint64_t offset), void *argument);
