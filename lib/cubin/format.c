/* format.c: names of the EM_CUDA format's numbers, for dumps.
 *
 * The names are the public ones (see format.h), attributes without EIATTR_. Numbers without a
 * public name have none here either. */
#include "cubin/format.h"

#include <stddef.h>

#include "base/search.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Measured: nvlink 13.0 writes these bytes into every executable, on every architecture. */
const uint8_t format_rel_action[NV_REL_ACTION_SIZE] = {0x73, 0, 0, 0,    0,    0, 0,    0,
                                                       0,    0, 0, 0x11, 0x25, 0, 0x05, 0x36};

struct number_name {
    uint32_t number;
    const char *name;
};

static const struct number_name relocations[] = {
    {R_CUDA_NONE, "R_CUDA_NONE"},
    {R_CUDA_32, "R_CUDA_32"},
    {R_CUDA_64, "R_CUDA_64"},
    {R_CUDA_G32, "R_CUDA_G32"},
    {R_CUDA_G64, "R_CUDA_G64"},
    {R_CUDA_TEX_HEADER_INDEX, "R_CUDA_TEX_HEADER_INDEX"},
    {R_CUDA_SAMP_HEADER_INDEX, "R_CUDA_SAMP_HEADER_INDEX"},
    {R_CUDA_FUNC_DESC_32, "R_CUDA_FUNC_DESC_32"},
    {R_CUDA_FUNC_DESC_64, "R_CUDA_FUNC_DESC_64"},
    {0x32, "R_CUDA_CONST_FIELD19_20"},
    {0x33, "R_CUDA_BINDLESSOFF13_36"},
    {R_CUDA_SURF_HEADER_INDEX, "R_CUDA_SURF_HEADER_INDEX"},
    {0x36, "R_CUDA_CONST_FIELD21_20"},
    {R_CUDA_ABS32_32, "R_CUDA_ABS32_32"},
    {R_CUDA_ABS32_LO_32, "R_CUDA_ABS32_LO_32"},
    {R_CUDA_ABS32_HI_32, "R_CUDA_ABS32_HI_32"},
    {R_CUDA_ABS47_34, "R_CUDA_ABS47_34"},
    {R_CUDA_ABS16_32, "R_CUDA_ABS16_32"},
    {0x3c, "R_CUDA_ABS24_32"},
    {R_CUDA_FUNC_DESC32_32, "R_CUDA_FUNC_DESC32_32"},
    {R_CUDA_FUNC_DESC32_LO_32, "R_CUDA_FUNC_DESC32_LO_32"},
    {R_CUDA_FUNC_DESC32_HI_32, "R_CUDA_FUNC_DESC32_HI_32"},
    {R_CUDA_CONST_FIELD19_40, "R_CUDA_CONST_FIELD19_40"},
    {R_CUDA_BINDLESSOFF14_40, "R_CUDA_BINDLESSOFF14_40"},
    {R_CUDA_CONST_FIELD21_38, "R_CUDA_CONST_FIELD21_38"},
    {0x43, "R_CUDA_INSTRUCTION128"},
    {R_CUDA_YIELD_OPCODE9_0, "R_CUDA_YIELD_OPCODE9_0"},
    {R_CUDA_YIELD_CLEAR_PRED4_87, "R_CUDA_YIELD_CLEAR_PRED4_87"},
    {0x46, "R_CUDA_32_LO"},
    {0x47, "R_CUDA_32_HI"},
    {R_CUDA_UNUSED_CLEAR32, "R_CUDA_UNUSED_CLEAR32"},
    {R_CUDA_UNUSED_CLEAR64, "R_CUDA_UNUSED_CLEAR64"},
    {R_CUDA_ABS24_40, "R_CUDA_ABS24_40"},
    {R_CUDA_ABS55_16_34, "R_CUDA_ABS55_16_34"},
    {R_CUDA_8_0, "R_CUDA_8_0"},
    {R_CUDA_8_0 + 1, "R_CUDA_8_8"},
    {R_CUDA_8_0 + 2, "R_CUDA_8_16"},
    {R_CUDA_8_0 + 3, "R_CUDA_8_24"},
    {R_CUDA_8_0 + 4, "R_CUDA_8_32"},
    {R_CUDA_8_0 + 5, "R_CUDA_8_40"},
    {R_CUDA_8_0 + 6, "R_CUDA_8_48"},
    {R_CUDA_8_0 + 7, "R_CUDA_8_56"},
    {R_CUDA_G8_0, "R_CUDA_G8_0"},
    {R_CUDA_G8_0 + 1, "R_CUDA_G8_8"},
    {R_CUDA_G8_0 + 2, "R_CUDA_G8_16"},
    {R_CUDA_G8_0 + 3, "R_CUDA_G8_24"},
    {R_CUDA_G8_0 + 4, "R_CUDA_G8_32"},
    {R_CUDA_G8_0 + 5, "R_CUDA_G8_40"},
    {R_CUDA_G8_0 + 6, "R_CUDA_G8_48"},
    {R_CUDA_G8_0 + 7, "R_CUDA_G8_56"},
    {R_CUDA_FUNC_DESC_8_0, "R_CUDA_FUNC_DESC_8_0"},
    {R_CUDA_FUNC_DESC_8_0 + 1, "R_CUDA_FUNC_DESC_8_8"},
    {R_CUDA_FUNC_DESC_8_0 + 2, "R_CUDA_FUNC_DESC_8_16"},
    {R_CUDA_FUNC_DESC_8_0 + 3, "R_CUDA_FUNC_DESC_8_24"},
    {R_CUDA_FUNC_DESC_8_0 + 4, "R_CUDA_FUNC_DESC_8_32"},
    {R_CUDA_FUNC_DESC_8_0 + 5, "R_CUDA_FUNC_DESC_8_40"},
    {R_CUDA_FUNC_DESC_8_0 + 6, "R_CUDA_FUNC_DESC_8_48"},
    {R_CUDA_FUNC_DESC_8_0 + 7, "R_CUDA_FUNC_DESC_8_56"},
    {0x64, "R_CUDA_ABS20_44"},
    {0x65, "R_CUDA_SAMP_HEADER_INDEX_0"},
    {R_CUDA_UNIFIED, "R_CUDA_UNIFIED"},
    {R_CUDA_UNIFIED_32, "R_CUDA_UNIFIED_32"},
    {R_CUDA_UNIFIED_8_0, "R_CUDA_UNIFIED_8_0"},
    {R_CUDA_UNIFIED_8_0 + 1, "R_CUDA_UNIFIED_8_8"},
    {R_CUDA_UNIFIED_8_0 + 2, "R_CUDA_UNIFIED_8_16"},
    {R_CUDA_UNIFIED_8_0 + 3, "R_CUDA_UNIFIED_8_24"},
    {R_CUDA_UNIFIED_8_0 + 4, "R_CUDA_UNIFIED_8_32"},
    {R_CUDA_UNIFIED_8_0 + 5, "R_CUDA_UNIFIED_8_40"},
    {R_CUDA_UNIFIED_8_0 + 6, "R_CUDA_UNIFIED_8_48"},
    {R_CUDA_UNIFIED_8_0 + 7, "R_CUDA_UNIFIED_8_56"},
    {R_CUDA_UNIFIED32_LO_32, "R_CUDA_UNIFIED32_LO_32"},
    {R_CUDA_UNIFIED32_HI_32, "R_CUDA_UNIFIED32_HI_32"},
    {R_CUDA_ABS56_16_34, "R_CUDA_ABS56_16_34"},
    {R_CUDA_CONST_FIELD22_37, "R_CUDA_CONST_FIELD22_37"},
};

static const char *const attributes[] = {
    [0x01] = "PAD",
    [0x02] = "IMAGE_SLOT",
    [0x03] = "JUMPTABLE_RELOCS",
    [0x04] = "CTAIDZ_USED",
    [EIATTR_MAX_THREADS] = "MAX_THREADS",
    [0x06] = "IMAGE_OFFSET",
    [0x07] = "IMAGE_SIZE",
    [0x08] = "TEXTURE_NORMALIZED",
    [EIATTR_SAMPLER_INIT] = "SAMPLER_INIT",
    [EIATTR_PARAM_CBANK] = "PARAM_CBANK",
    [0x0b] = "SMEM_PARAM_OFFSETS",
    [0x0c] = "CBANK_PARAM_OFFSETS",
    [0x0d] = "SYNC_STACK",
    [0x0e] = "TEXID_SAMPID_MAP",
    [EIATTR_EXTERNS] = "EXTERNS",
    [EIATTR_REQNTID] = "REQNTID",
    [EIATTR_FRAME_SIZE] = "FRAME_SIZE",
    [EIATTR_MIN_STACK_SIZE] = "MIN_STACK_SIZE",
    [EIATTR_SAMPLER_FORCE_UNNORMALIZED] = "SAMPLER_FORCE_UNNORMALIZED",
    [0x14] = "BINDLESS_IMAGE_OFFSETS",
    [0x15] = "BINDLESS_TEXTURE_BANK",
    [0x16] = "BINDLESS_SURFACE_BANK",
    [EIATTR_KPARAM_INFO] = "KPARAM_INFO",
    [0x18] = "SMEM_PARAM_SIZE",
    [EIATTR_CBANK_PARAM_SIZE] = "CBANK_PARAM_SIZE",
    [0x1a] = "QUERY_NUMATTRIB",
    [EIATTR_MAXREG_COUNT] = "MAXREG_COUNT",
    [EIATTR_EXIT_INSTR_OFFSETS] = "EXIT_INSTR_OFFSETS",
    [0x1d] = "S2RCTAID_INSTR_OFFSETS",
    [EIATTR_CRS_STACK_SIZE] = "CRS_STACK_SIZE",
    [0x1f] = "NEED_CNP_WRAPPER",
    [0x20] = "NEED_CNP_PATCH",
    [0x21] = "EXPLICIT_CACHING",
    [0x22] = "ISTYPEP_USED",
    [EIATTR_MAX_STACK_SIZE] = "MAX_STACK_SIZE",
    [0x24] = "SUQ_USED",
    [0x25] = "LD_CACHEMOD_INSTR_OFFSETS",
    [0x26] = "LOAD_CACHE_REQUEST",
    [0x27] = "ATOM_SYS_INSTR_OFFSETS",
    [0x28] = "COOP_GROUP_INSTR_OFFSETS",
    [0x29] = "COOP_GROUP_MASK_REGIDS",
    [0x2a] = "SW1850030_WAR",
    [0x2b] = "WMMA_USED",
    [0x2c] = "HAS_PRE_V10_OBJECT",
    [0x2d] = "ATOMF16_EMUL_INSTR_OFFSETS",
    [0x2e] = "ATOM16_EMUL_INSTR_REG_MAP",
    [EIATTR_REGCOUNT] = "REGCOUNT",
    [0x30] = "SW2393858_WAR",
    [0x31] = "INT_WARP_WIDE_INSTR_OFFSETS",
    [0x32] = "SHARED_SCRATCH",
    [0x33] = "STATISTICS",
    [EIATTR_INDIRECT_BRANCH_TARGETS] = "INDIRECT_BRANCH_TARGETS",
    [0x35] = "SW2861232_WAR",
    [EIATTR_SW_WAR] = "SW_WAR",
    [EIATTR_CUDA_API_VERSION] = "CUDA_API_VERSION",
    [0x38] = "NUM_MBARRIERS",
    [0x39] = "MBARRIER_INSTR_OFFSETS",
    [0x3a] = "COROUTINE_RESUME_ID_OFFSETS",
    [0x3b] = "SAM_REGION_STACK_SIZE",
    [0x3c] = "PER_REG_TARGET_PERF_STATS",
    [0x3d] = "CTA_PER_CLUSTER",
    [0x3e] = "EXPLICIT_CLUSTER",
    [0x3f] = "MAX_CLUSTER_RANK",
    [0x40] = "INSTR_REG_MAP",
    [0x41] = "RESERVED_SMEM_USED",
    [0x42] = "RESERVED_SMEM_0_SIZE",
    [0x43] = "UCODE_SECTION_DATA",
    [0x44] = "UNUSED_LOAD_BYTE_OFFSET",
    [0x45] = "KPARAM_INFO_V2",
    [0x46] = "SYSCALL_OFFSETS",
    [0x47] = "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
    [0x48] = "GRAPHICS_GLOBAL_CBANK",
    [0x49] = "SHADER_TYPE",
    [0x4a] = "VRC_CTA_INIT_COUNT",
    [0x4b] = "TOOLS_PATCH_FUNC",
    [EIATTR_NUM_BARRIERS] = "NUM_BARRIERS",
    [EIATTR_TEXMODE_INDEPENDENT] = "TEXMODE_INDEPENDENT",
    [0x4e] = "PERF_STATISTICS",
    [0x4f] = "AT_ENTRY_FRAGMENTS",
    [EIATTR_SPARSE_MMA_MASK] = "SPARSE_MMA_MASK",
    [0x51] = "TCGEN05_1CTA_USED",
    [0x52] = "TCGEN05_2CTA_USED",
    [0x53] = "GEN_ERRBAR_AT_EXIT",
    [0x54] = "REG_RECONFIG",
    [0x55] = "ANNOTATIONS",
    [0x56] = "SANITIZE",
    [0x57] = "STACK_CANARY_TRAP_OFFSETS",
    [0x58] = "STUB_FUNCTION_KIND",
    [0x59] = "LOCAL_CTA_ASYNC_STORE_OFFSETS",
    [0x5a] = "MERCURY_FINALIZER_OPTIONS",
    [EIATTR_MERCURY_ISA_VERSION] = "MERCURY_ISA_VERSION",
};

unsigned format_relocation_size(uint32_t type)
{
    /* 0x4c to 0x63: byte n of a plain, global or function descriptor address; 0x68: unified. */
    if ((type >= R_CUDA_8_0 && type < R_CUDA_FUNC_DESC_8_0 + 8) ||
        (type >= R_CUDA_UNIFIED_8_0 && type < R_CUDA_UNIFIED_8_0 + 8))
        return 1;
    switch (type) {
    case R_CUDA_32:
    case R_CUDA_G32:
    case R_CUDA_TEX_HEADER_INDEX:
    case R_CUDA_SAMP_HEADER_INDEX:
    case R_CUDA_FUNC_DESC_32:
    case R_CUDA_SURF_HEADER_INDEX:
    case 0x46: /* 32_LO */
    case 0x47: /* 32_HI */
    case R_CUDA_UNUSED_CLEAR32:
    case R_CUDA_UNIFIED_32:
    case R_MERCURY_ABS32:
    case R_MERCURY_PROG_REL32:
        return 4;
    default:
        return 8;
    }
}

bool format_is_nobits(uint32_t type)
{
    return type == SHT_NOBITS || type == SHT_CUDA_GLOBAL || type == SHT_CUDA_LOCAL ||
           type == SHT_CUDA_SHARED || type == SHT_CUDA_RESERVED_SHARED;
}

bool format_is_constant(uint32_t type)
{
    return type >= SHT_CUDA_CONSTANT0 && type <= SHT_CUDA_CONSTANT_LAST;
}

/* The tables are sorted by number. */
static const char *name_in(const struct number_name *names, size_t count, uint32_t number)
{
    size_t found = SEARCH_FIRST_NOT(count, at, names[at].number < number);

    return found < count && names[found].number == number ? names[found].name : NULL;
}

const char *format_relocation_name(uint32_t type)
{
    return name_in(relocations, COUNT(relocations), type);
}

const char *format_attribute_name(uint8_t attribute)
{
    return attribute < COUNT(attributes) ? attributes[attribute] : NULL;
}
