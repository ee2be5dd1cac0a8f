/* relocation_types.h: the types of relocations: the rows of relocation_types.def. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum cubin_relocation_type {
#define TYPE(number, id, bytes, action, plain)             R_CUDA_##id = number,
#define FIELD(number, id, uses, first, width, shift, bank) R_CUDA_##id = number,
#define MERCURY(number, id, bytes, action, plain)          R_MERCURY_##id = number,
#define MERCURY_FIELD(number, id, bytes, uses)             R_MERCURY_##id = number,
#include "facts/relocation_types.def"
#undef TYPE
#undef FIELD
#undef MERCURY
#undef MERCURY_FIELD
};

/* What a link does with the field. */
enum relocation_action {
    RELOCATION_REFUSED, /* an unknown type, or one that only links make */
    RELOCATION_IGNORED, /* a hint to other tools; it may be against no symbol */
    RELOCATION_FIELD,   /* bits of an instruction that the link fills in */
    RELOCATION_CLEARED, /* set to 0 if the symbol is gone */
    RELOCATION_VALUE,   /* from here on an address, which the driver fills in: a whole value */
    RELOCATION_ADDRESS, /* the same; of a constant it is the offset, which the link fills in */
    RELOCATION_BYTE,    /* one byte of such an address */
    RELOCATION_KEPT,    /* any other address, or part of one */
};

/* Values that a field of an instruction may hold. */
enum field_use {
    FIELD_OF_SHARED = 1,   /* an address in shared memory */
    FIELD_OF_CONSTANT = 2, /* an offset in a constant bank */
    FIELD_OF_TEXTURE = 4,  /* the offset of a texture reference's word in bank 0 */
};

struct relocation_facts {
    const char *name; /* NULL: it has no public one */
    uint32_t plain;   /* the type in an executable */
    uint8_t bytes;
    uint8_t action; /* enum relocation_action */
    /* RELOCATION_FIELD: bits of a 16-byte instruction, counted from its lowest */
    uint8_t uses; /* enum field_use */
    uint8_t first;
    uint8_t width;
    uint8_t shift; /* the field holds value >> shift */
    uint8_t bank;  /* first bit of the bank's number, RELOCATION_BANK_WIDTH wide; 0 = it has none */
};

#define RELOCATION_BANK_WIDTH   5
#define RELOCATION_MERCURY_BASE 0x10000u /* Mercury's types are above it */

/* The row of a type; for an unknown one a row without a name that is refused. */
const struct relocation_facts *relocation_types_find(uint32_t type);

/* Whether it is a type of Mercury's relocations. */
static inline bool relocation_types_is_mercury(uint32_t type)
{
    return type >= RELOCATION_MERCURY_BASE;
}

/* Whether an address is left to the driver. */
static inline bool relocation_types_keep(const struct relocation_facts *facts)
{
    return facts->action >= RELOCATION_VALUE;
}

/* Whether the field is a whole value. */
static inline bool relocation_types_are_whole(const struct relocation_facts *facts)
{
    return facts->action >= RELOCATION_CLEARED && facts->action <= RELOCATION_ADDRESS;
}
