/* relocation_rule.h: the meaning of relocation types in a merge, as one table (minilink-cubin(5),
 * "Relocations"; measured on nvlink). */
#pragma once

#include <stdint.h>

enum relocation_action {
    RELOCATION_REFUSED, /* an unknown type */
    RELOCATION_IGNORED, /* a hint to other tools */
    RELOCATION_CLEARED, /* its field is cleared if its symbol is gone */
    RELOCATION_KEPT,    /* an address, which the driver fills in */
    RELOCATION_FIELD,   /* bits of an instruction that the link fills in */
};

/* Values that a field of an instruction may hold. */
enum field_use {
    FIELD_OF_SHARED = 1,   /* an address in shared memory */
    FIELD_OF_CONSTANT = 2, /* an offset in a constant bank */
    FIELD_OF_TEXTURE = 4,  /* the offset of a texture reference's word in bank 0 */
};

struct relocation_rule {
    uint8_t action; /* enum relocation_action */
    /* RELOCATION_FIELD: bits of a 16-byte instruction, counted from its lowest */
    uint8_t uses; /* enum field_use */
    uint8_t first;
    uint8_t width;
    uint8_t shift; /* the field holds value >> shift */
    uint8_t bank;  /* first bit of the bank's number, RELOCATION_BANK_WIDTH wide; 0 = it has none */
    /* RELOCATION_KEPT, RELOCATION_CLEARED */
    uint8_t size;  /* bytes of a field that is a whole data field; 0 = another kind of field */
    uint8_t plain; /* type of the field if no address is in a unified table; 0 = this type */
};

#define RELOCATION_BANK_WIDTH 5

/* The rule of a type; RELOCATION_REFUSED for unknown types. */
const struct relocation_rule *relocation_rule(uint32_t type);

/* The type that a kept relocation has in an executable. */
uint32_t relocation_plain(uint32_t type);
