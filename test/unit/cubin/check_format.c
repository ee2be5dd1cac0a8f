/* check_format.c: the names of the format's numbers. */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "cubin/format.h"
#include "suite.h"

/* A number and the names of it and of those behind it, with blanks between them. The numbers are
 * written out, as public pages list them: format.h's own are what is tested. */
struct names {
    uint32_t first;
    const char *names;
};

static const struct names section_types[] = {
    {0x00, "NULL PROGBITS SYMTAB STRTAB RELA"},
    {0x07, "NOTE NOBITS REL"},
    {0x12, "SYMTAB_SHNDX"},
    {0x70000000, "CUDA_INFO CUDA_CALLGRAPH CUDA_PROTOTYPE CUDA_RESOLVED_RELA CUDA_METADATA"},
    {0x70000006, "CUDA_CONSTANT CUDA_GLOBAL CUDA_GLOBAL_INIT CUDA_LOCAL CUDA_SHARED "
                 "CUDA_RELOCINFO"},
    {0x7000000e, "CUDA_UFT"},
    {0x70000010, "CUDA_UFT_INDEX CUDA_UFT_ENTRY CUDA_UDT"},
    {0x70000014, "CUDA_UDT_ENTRY CUDA_RESERVED_SHARED CUDA_CAPMERC"},
    {0x70000064, "CUDA_CONSTANT0 CUDA_CONSTANT1 CUDA_CONSTANT2 CUDA_CONSTANT3 CUDA_CONSTANT4 "
                 "CUDA_CONSTANT5 CUDA_CONSTANT6 CUDA_CONSTANT7 CUDA_CONSTANT8 CUDA_CONSTANT9 "
                 "CUDA_CONSTANT10 CUDA_CONSTANT11 CUDA_CONSTANT12 CUDA_CONSTANT13 "
                 "CUDA_CONSTANT14 CUDA_CONSTANT15 CUDA_CONSTANT16 CUDA_CONSTANT17"},
    {0x70000082, "CUDA_MERC_RELA CUDA_MERC_INFO"},
    {0x70000085, "CUDA_MERC_SYMTAB CUDA_COMPAT"},
    {0x70000088, "CUDA_MERC_RESOLVED_RELA"},
};

/* Without R_CUDA_. */
static const struct names relocations[] = {
    {0x00, "NONE 32 64 G32 G64"},
    {0x06, "TEX_HEADER_INDEX SAMP_HEADER_INDEX"},
    {0x22, "FUNC_DESC_32 FUNC_DESC_64"},
    {0x32, "CONST_FIELD19_20 BINDLESSOFF13_36 SURF_HEADER_INDEX"},
    {0x36, "CONST_FIELD21_20 ABS32_32"},
    {0x38, "ABS32_LO_32 ABS32_HI_32 ABS47_34 ABS16_32 ABS24_32 FUNC_DESC32_32 "
           "FUNC_DESC32_LO_32 FUNC_DESC32_HI_32"},
    {0x40, "CONST_FIELD19_40 BINDLESSOFF14_40 CONST_FIELD21_38 INSTRUCTION128 "
           "YIELD_OPCODE9_0 YIELD_CLEAR_PRED4_87 32_LO 32_HI"},
    {0x48, "UNUSED_CLEAR32 UNUSED_CLEAR64 ABS24_40 ABS55_16_34 8_0 8_8 8_16 8_24"},
    {0x50, "8_32 8_40 8_48 8_56 G8_0 G8_8 G8_16 G8_24"},
    {0x58, "G8_32 G8_40 G8_48 G8_56 FUNC_DESC_8_0 FUNC_DESC_8_8 FUNC_DESC_8_16 "
           "FUNC_DESC_8_24"},
    {0x60, "FUNC_DESC_8_32 FUNC_DESC_8_40 FUNC_DESC_8_48 FUNC_DESC_8_56 ABS20_44 "
           "SAMP_HEADER_INDEX_0 UNIFIED UNIFIED_32"},
    {0x68, "UNIFIED_8_0 UNIFIED_8_8 UNIFIED_8_16 UNIFIED_8_24 UNIFIED_8_32 "
           "UNIFIED_8_40 UNIFIED_8_48 UNIFIED_8_56"},
    {0x70, "UNIFIED32_LO_32 UNIFIED32_HI_32 ABS56_16_34 CONST_FIELD22_37"},
};

static const struct names attributes[] = {
    {0x01, "PAD IMAGE_SLOT JUMPTABLE_RELOCS CTAIDZ_USED MAX_THREADS IMAGE_OFFSET "
           "IMAGE_SIZE"},
    {0x08, "TEXTURE_NORMALIZED SAMPLER_INIT PARAM_CBANK SMEM_PARAM_OFFSETS "
           "CBANK_PARAM_OFFSETS SYNC_STACK TEXID_SAMPID_MAP EXTERNS"},
    {0x10, "REQNTID FRAME_SIZE MIN_STACK_SIZE SAMPLER_FORCE_UNNORMALIZED "
           "BINDLESS_IMAGE_OFFSETS BINDLESS_TEXTURE_BANK BINDLESS_SURFACE_BANK "
           "KPARAM_INFO"},
    {0x18, "SMEM_PARAM_SIZE CBANK_PARAM_SIZE QUERY_NUMATTRIB MAXREG_COUNT "
           "EXIT_INSTR_OFFSETS S2RCTAID_INSTR_OFFSETS CRS_STACK_SIZE NEED_CNP_WRAPPER"},
    {0x20, "NEED_CNP_PATCH EXPLICIT_CACHING ISTYPEP_USED MAX_STACK_SIZE SUQ_USED "
           "LD_CACHEMOD_INSTR_OFFSETS LOAD_CACHE_REQUEST ATOM_SYS_INSTR_OFFSETS"},
    {0x28, "COOP_GROUP_INSTR_OFFSETS COOP_GROUP_MASK_REGIDS SW1850030_WAR WMMA_USED "
           "HAS_PRE_V10_OBJECT ATOMF16_EMUL_INSTR_OFFSETS ATOM16_EMUL_INSTR_REG_MAP "
           "REGCOUNT"},
    {0x30, "SW2393858_WAR INT_WARP_WIDE_INSTR_OFFSETS SHARED_SCRATCH STATISTICS "
           "INDIRECT_BRANCH_TARGETS SW2861232_WAR SW_WAR CUDA_API_VERSION"},
    {0x38, "NUM_MBARRIERS MBARRIER_INSTR_OFFSETS COROUTINE_RESUME_ID_OFFSETS "
           "SAM_REGION_STACK_SIZE PER_REG_TARGET_PERF_STATS CTA_PER_CLUSTER "
           "EXPLICIT_CLUSTER MAX_CLUSTER_RANK"},
    {0x40, "INSTR_REG_MAP RESERVED_SMEM_USED RESERVED_SMEM_0_SIZE UCODE_SECTION_DATA "
           "UNUSED_LOAD_BYTE_OFFSET KPARAM_INFO_V2 SYSCALL_OFFSETS "
           "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS"},
    {0x48, "GRAPHICS_GLOBAL_CBANK SHADER_TYPE VRC_CTA_INIT_COUNT TOOLS_PATCH_FUNC "
           "NUM_BARRIERS TEXMODE_INDEPENDENT PERF_STATISTICS AT_ENTRY_FRAGMENTS"},
    {0x50, "SPARSE_MMA_MASK TCGEN05_1CTA_USED TCGEN05_2CTA_USED GEN_ERRBAR_AT_EXIT "
           "REG_RECONFIG ANNOTATIONS SANITIZE STACK_CANARY_TRAP_OFFSETS"},
    {0x58, "STUB_FUNCTION_KIND LOCAL_CTA_ASYNC_STORE_OFFSETS MERCURY_FINALIZER_OPTIONS"},
    {0x5f, "MERCURY_ISA_VERSION"},
};

/* The name of `number` in the table; an empty text when it has none. */
static struct text name_in(const struct names *rows, int count, uint32_t number)
{
    for (int i = 0; i < count; i++) {
        const char *at = rows[i].names;

        for (uint32_t n = rows[i].first; *at; n++) {
            size_t size = strcspn(at, " ");

            if (n == number)
                return (struct text){at, size};
            at += size;
            at += strspn(at, " ");
        }
    }
    return (struct text){0};
}

static void check_name(struct text expected, const char *prefix, const char *name, uint32_t number)
{
    struct text found = text_of(name);

    if (expected.size > 0)
        ck_assert_msg(text_skip(&found, text_of(prefix)), "0x%x is called %s", number,
                      name ? name : "nothing");
    ck_assert_msg(text_equal(found, expected), "0x%x is called %s, not %.*s", number,
                  name ? name : "nothing", TEXT_ARG(expected));
}

TEST(every_type_of_section_has_its_name_and_no_other_number_has_one)
{
    for (uint32_t i = 0; i < 0x200; i++) {
        const uint32_t numbers[] = {i, SHT_LOPROC + i};

        for (int j = 0; j < COUNT(numbers); j++)
            check_name(name_in(section_types, COUNT(section_types), numbers[j]), "",
                       format_section_type_name(numbers[j]), numbers[j]);
    }
    ck_assert_ptr_null(format_section_type_name(0x12345));
    ck_assert_ptr_null(format_section_type_name(UINT32_MAX));
}

TEST(every_relocation_has_its_name_and_no_other_number_has_one)
{
    for (uint32_t i = 0; i < 0x200; i++)
        check_name(name_in(relocations, COUNT(relocations), i), "R_CUDA_",
                   format_relocation_name(i), i);
    ck_assert_ptr_null(format_relocation_name(UINT32_MAX));
}

TEST(every_attribute_has_its_name_and_no_other_number_has_one)
{
    for (uint32_t i = 0; i <= UINT8_MAX; i++)
        check_name(name_in(attributes, COUNT(attributes), i), "", format_attribute_name((uint8_t)i),
                   i);
}

TEST(sizes_of_relocations_and_constant_banks_are_known)
{
    ck_assert_uint_eq(format_relocation_size(0x5b), 1); /* R_CUDA_G8_56 */
    ck_assert_uint_eq(format_relocation_size(R_CUDA_32), 4);
    ck_assert_uint_eq(format_relocation_size(R_CUDA_64), 8);
    for (uint32_t type = SHT_CUDA_CONSTANT0 - 1; type <= SHT_CUDA_CONSTANT_LAST + 1; type++)
        ck_assert(format_is_constant(type) ==
                  (type >= SHT_CUDA_CONSTANT0 && type < SHT_CUDA_CONSTANT0 + 18));
}
