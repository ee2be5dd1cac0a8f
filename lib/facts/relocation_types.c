/* relocation_types.c: looks up the rows of relocation_types.def. */
#include "facts/relocation_types.h"

#define PLAIN_TYPES   0x80u
#define MERCURY_TYPES 0x40u

static const struct relocation_facts rows[PLAIN_TYPES + MERCURY_TYPES] = {
#define TYPE(number, id, size, does, becomes)                                                      \
    [number] = {.name = "R_CUDA_" #id,                                                             \
                .plain = R_CUDA_##becomes ? R_CUDA_##becomes : R_CUDA_##id,                        \
                .bytes = (size),                                                                   \
                .action = RELOCATION_##does},
#define FIELD(number, id, holds, at, bits, shifted, bank_at)                                       \
    [number] = {.name = "R_CUDA_" #id,                                                             \
                .plain = R_CUDA_##id,                                                              \
                .bytes = 8,                                                                        \
                .action = RELOCATION_FIELD,                                                        \
                .uses = (holds),                                                                   \
                .first = (at),                                                                     \
                .width = (bits),                                                                   \
                .shift = (shifted),                                                                \
                .bank = (bank_at)},
#define R_MERCURY_NONE 0
#define MERCURY(number, id, size, does, becomes)                                                   \
    [PLAIN_TYPES + (number)-RELOCATION_MERCURY_BASE] = {                                           \
        .plain = R_MERCURY_##becomes ? R_MERCURY_##becomes : R_MERCURY_##id,                       \
        .bytes = (size),                                                                           \
        .action = RELOCATION_##does},
#define MERCURY_FIELD(number, id, size, holds)                                                     \
    [PLAIN_TYPES + (number)-RELOCATION_MERCURY_BASE] = {                                           \
        .plain = R_MERCURY_##id, .bytes = (size), .action = RELOCATION_FIELD, .uses = (holds)},
#include "facts/relocation_types.def"
};

const struct relocation_facts *relocation_types_find(uint32_t type)
{
    static const struct relocation_facts unknown = {.bytes = 8};
    const struct relocation_facts *row = &unknown;

    if (type < PLAIN_TYPES)
        row = &rows[type];
    else if (type - RELOCATION_MERCURY_BASE < MERCURY_TYPES)
        row = &rows[PLAIN_TYPES + type - RELOCATION_MERCURY_BASE];
    return row->bytes ? row : &unknown;
}
