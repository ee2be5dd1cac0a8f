/* relocation_rule.c: the table, by type.
 *
 * The link decides where shared variables and constants lie, so their offsets are bits of
 * instructions that it fills in. Addresses of code and of global data are only known when the
 * driver loads the image; device code (libcudadevrt) launches kernels by the addresses of
 * descriptors. Addresses that might be in a unified table have types of their own, which equal the
 * plain ones in a program without such tables. */
#include "merge/relocation_rule.h"

#include "cubin/format.h"

#define FIELD(holds, at, bits, shifted, bank_at)                                                   \
    (struct relocation_rule)                                                                       \
    {                                                                                              \
        .action = RELOCATION_FIELD, .uses = (holds), .first = (at), .width = (bits),               \
        .shift = (shifted), .bank = (bank_at)                                                      \
    }

static const struct relocation_rule rules[] = {
    [R_CUDA_NONE] = {.action = RELOCATION_IGNORED},
    [R_CUDA_YIELD_OPCODE9_0] = {.action = RELOCATION_IGNORED},
    [R_CUDA_YIELD_CLEAR_PRED4_87] = {.action = RELOCATION_IGNORED},

    [R_CUDA_UNUSED_CLEAR32] = {.action = RELOCATION_CLEARED, .size = 4},
    [R_CUDA_UNUSED_CLEAR64] = {.action = RELOCATION_CLEARED, .size = 8},

    [R_CUDA_ABS32_32] = FIELD(FIELD_OF_SHARED, 32, 32, 0, 0),
    [R_CUDA_ABS24_40] = FIELD(FIELD_OF_SHARED, 40, 24, 0, 0),
    [R_CUDA_ABS20_44] = FIELD(FIELD_OF_SHARED, 44, 20, 0, 0),
    [R_CUDA_ABS16_32] = FIELD(FIELD_OF_SHARED | FIELD_OF_CONSTANT, 32, 16, 0, 0),
    [R_CUDA_CONST_FIELD19_40] = FIELD(FIELD_OF_CONSTANT, 40, 14, 2, 54),
    [R_CUDA_CONST_FIELD21_38] = FIELD(FIELD_OF_CONSTANT | FIELD_OF_TEXTURE, 38, 16, 0, 54),
    [R_CUDA_CONST_FIELD22_37] = FIELD(FIELD_OF_CONSTANT | FIELD_OF_TEXTURE, 37, 17, 0, 54),
    [R_CUDA_BINDLESSOFF14_40] = FIELD(FIELD_OF_TEXTURE, 40, 14, 2, 0),

    [R_CUDA_32] = {.action = RELOCATION_KEPT, .size = 4},
    [R_CUDA_64] = {.action = RELOCATION_KEPT, .size = 8},
    [R_CUDA_G32] = {.action = RELOCATION_KEPT, .size = 4},
    [R_CUDA_G64] = {.action = RELOCATION_KEPT, .size = 8},
    [R_CUDA_ABS32_LO_32... R_CUDA_ABS47_34] = {.action = RELOCATION_KEPT},
    [R_CUDA_ABS55_16_34] = {.action = RELOCATION_KEPT},
    [R_CUDA_8_0... R_CUDA_8_0 + 7] = {.action = RELOCATION_KEPT},
    [R_CUDA_G8_0... R_CUDA_G8_0 + 7] = {.action = RELOCATION_KEPT},
    [R_CUDA_FUNC_DESC_32] = {.action = RELOCATION_KEPT},
    [R_CUDA_FUNC_DESC_64] = {.action = RELOCATION_KEPT},
    [R_CUDA_FUNC_DESC32_32... R_CUDA_FUNC_DESC32_HI_32] = {.action = RELOCATION_KEPT},
    [R_CUDA_FUNC_DESC_8_0... R_CUDA_FUNC_DESC_8_0 + 7] = {.action = RELOCATION_KEPT},

    [R_CUDA_UNIFIED] = {.action = RELOCATION_KEPT, .plain = R_CUDA_64},
    [R_CUDA_UNIFIED_32] = {.action = RELOCATION_KEPT, .plain = R_CUDA_32},
    [R_CUDA_UNIFIED32_LO_32] = {.action = RELOCATION_KEPT, .plain = R_CUDA_ABS32_LO_32},
    [R_CUDA_UNIFIED32_HI_32] = {.action = RELOCATION_KEPT, .plain = R_CUDA_ABS32_HI_32},
    [R_CUDA_UNIFIED_8_0 + 0] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 0},
    [R_CUDA_UNIFIED_8_0 + 1] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 1},
    [R_CUDA_UNIFIED_8_0 + 2] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 2},
    [R_CUDA_UNIFIED_8_0 + 3] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 3},
    [R_CUDA_UNIFIED_8_0 + 4] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 4},
    [R_CUDA_UNIFIED_8_0 + 5] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 5},
    [R_CUDA_UNIFIED_8_0 + 6] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 6},
    [R_CUDA_UNIFIED_8_0 + 7] = {.action = RELOCATION_KEPT, .plain = R_CUDA_8_0 + 7},
};

const struct relocation_rule *relocation_rule(uint32_t type)
{
    static const struct relocation_rule refused;

    return type < sizeof rules / sizeof *rules ? &rules[type] : &refused;
}

uint32_t relocation_plain(uint32_t type)
{
    const struct relocation_rule *rule = relocation_rule(type);

    return rule->plain ? rule->plain : type;
}
