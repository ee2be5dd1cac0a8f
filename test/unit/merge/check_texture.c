/* check_texture: texture, sampler and surface references, and addresses of kernels, through the
 * merger. Expected values are those of nvlink 13.0 on the same cubins. */
#include "merged_output.h"

/* Record `index` of a kernel's list of words: what it is for. */
static void expect_word(const char *list, size_t index, uint64_t offset, uint32_t type,
                        const char *of)
{
    const struct cubin_section *in = section(list);

    ck_assert_uint_lt(index, in->relocation_count);
    ck_assert_uint_eq(in->relocations[index].offset, offset);
    ck_assert_uint_eq(in->relocations[index].type, type);
    ck_assert_uint_eq(in->relocations[index].symbol, symbol_index(of));
}

TEST(words_stand_behind_the_largest_bank_in_all_kernels_that_need_them)
{
    static const char *const users[] = {"calls", "loads", "both"};

    merge("texture-a.o texture-b.o");
    for (size_t i = 0; i < 3; i++) {
        char bank[64], list[64];

        snprintf(bank, sizeof bank, ".nv.constant0.%s", users[i]);
        snprintf(list, sizeof list, ".rel.nv.constant0.%s", users[i]);
        ck_assert_uint_eq(section(bank)->size, 0x234);
        ck_assert_uint_eq(section(list)->relocation_count, 4);
        expect_word(list, 0, 0x230, R_CUDA_TEX_HEADER_INDEX, "unused");
        expect_word(list, 1, 0x22c, R_CUDA_SURF_HEADER_INDEX, "surface");
        expect_word(list, 2, 0x228, R_CUDA_TEX_HEADER_INDEX, "own");
        expect_word(list, 3, 0x224, R_CUDA_TEX_HEADER_INDEX, "shared");
    }
    ck_assert_uint_eq(section(".nv.constant0.plain")->size, 0x210);
    ck_assert(section_at(".rel.nv.constant0.plain", 0) == NULL);
}

TEST(words_have_lists_without_addends_and_flags)
{
    const struct cubin_section *list;

    merge("texture-a.o texture-b.o");
    list = section(".rel.nv.constant0.both");
    ck_assert_uint_eq(list->type, SHT_REL);
    ck_assert_uint_eq(list->flags, 0);
    ck_assert_uint_eq(list->entry_size, 16);
    ck_assert_uint_eq(list->info, cubin_section_find(&merged->output, TEXT(".nv.constant0.both")));
}

TEST(code_gets_the_offsets_of_the_words)
{
    merge("texture-a.o texture-b.o");
    ck_assert(section_at(".rela.text.both", 0) == NULL);
    ck_assert_uint_eq(bits(section(".text.both"), 0x60, 38, 16), 0x224);
    ck_assert_uint_eq(bits(section(".text.both"), 0x40, 38, 16), 0x228);
    ck_assert_uint_eq(bits(section(".text.both"), 0x40, 54, 5), 0);
    ck_assert_uint_eq(bits(section(".text.fetch"), 0x20, 38, 16), 0x224);
}

TEST(code_of_older_targets_counts_words)
{
    merge_with(REQUEST(80), "texture-a-sm_80.o texture-b-sm_80.o");
    expect_word(".rel.nv.constant0.calls", 3, 0x174, R_CUDA_TEX_HEADER_INDEX, "shared");
    ck_assert_uint_eq(bits(section(".text.fetch"), 0x20, 40, 14), 0x174 / 4);
}

TEST(references_stay_undefined_and_may_be_mentioned_by_many)
{
    merge("texture-a.o texture-b.o");
    ck_assert_uint_eq(symbol("shared")->section, SHN_UNDEF);
    ck_assert_uint_eq(symbol("shared")->type, STT_CUDA_TEXTURE);
    ck_assert_uint_eq(symbol("shared")->binding, STB_GLOBAL);
    ck_assert_uint_eq(symbol("surface")->type, STT_CUDA_SURFACE);
}

TEST(a_reference_that_nothing_defines_is_no_error)
{
    merge("texture-b.o");
    expect_word(".rel.nv.constant0.both", 1, 0x224, R_CUDA_TEX_HEADER_INDEX, "shared");
}

TEST(dead_code_counts_when_there_is_one_kernel)
{
    merge("texture-dead.o");
    expect_word(".rel.nv.constant0.lonely", 0, 0x218, R_CUDA_TEX_HEADER_INDEX, "image");
    ck_assert_uint_eq(symbol_index("dead"), 0);
}

TEST(dead_code_does_not_count_among_several_kernels)
{
    merge("texture-dead.o kernel-a.o");
    ck_assert(section_at(".rel.nv.constant0.lonely", 0) == NULL);
    ck_assert_uint_eq(section(".nv.constant0.lonely")->size, 0x218);
}

TEST(a_parameter_belongs_to_its_kernel)
{
    struct info_record record;

    merge("texture-parameter.o");
    ck_assert_uint_eq(section(".nv.constant0.one")->size, 0x220);
    ck_assert_uint_eq(section(".nv.constant0.two")->size, 0x220);
    ck_assert_uint_eq(section(".rel.nv.constant0.one")->relocation_count, 1);
    ck_assert_uint_eq(section(".rel.nv.constant0.two")->relocation_count, 1);
    expect_word(".rel.nv.constant0.one", 0, 0x218, R_CUDA_TEX_HEADER_INDEX, "image");
    expect_word(".rel.nv.constant0.two", 0, 0x21c, R_CUDA_SURF_HEADER_INDEX, "area");
    ck_assert_uint_eq(symbol("image")->binding, STB_LOCAL);
    ck_assert(find_record(".nv.info.one", EIATTR_KPARAM_INFO, "image", &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 0xffff0001);
}

TEST(samplers_have_words_and_keep_their_values)
{
    merge("sampler.o");
    expect_word(".rel.nv.constant0.sampled", 0, 0x220, R_CUDA_SAMP_HEADER_INDEX, "sampler");
    expect_word(".rel.nv.constant0.sampled", 1, 0x21c, R_CUDA_TEX_HEADER_INDEX, "image");
    expect_word(".rel.nv.constant0.sampled", 2, 0x218, R_CUDA_SURF_HEADER_INDEX, "area");
    ck_assert_uint_eq(attribute_of("sampler", EIATTR_SAMPLER_INIT), 0x1ffff04);
}

TEST(relocatable_output_keeps_what_a_later_link_needs)
{
    merge_with(REQUEST(90, .relocatable = true), "texture-a.o texture-b.o");
    ck_assert_uint_eq(section(".nv.constant0.both")->size, 0x224);
    ck_assert_uint_eq(count_relocations(".rela.text.both", R_CUDA_CONST_FIELD21_38, "shared"), 1);
    ck_assert_uint_eq(count_relocations(".rela.text.fetch", R_CUDA_CONST_FIELD21_38, "shared"), 1);
    ck_assert(section_at(".rel.nv.constant0.both", 0) == NULL);
}

/* Three words, of which code reads two, in nvlink 13.0's and 13.5's place. */
#define WORDS(of) ".nv.merc.nv.constant.entry_image_header_indices." of
#define TWINS     "texref-sm_100-a.o texref-sm_100-b.o"

TEST(words_from_sm_100_on_are_aligned)
{
    struct info_record record;

    merge_with(REQUEST(100), TWINS);
    ck_assert_uint_eq(section(".nv.constant0.one")->size, 0x39c);
    expect_word(".rela.nv.constant0.one", 0, 0x398, R_CUDA_SAMP_HEADER_INDEX_0, "nearest");
    expect_word(".rela.nv.constant0.one", 1, 0x394, R_CUDA_TEX_HEADER_INDEX, "image");
    expect_word(".rela.nv.constant0.one", 2, 0x390, R_CUDA_SURF_HEADER_INDEX, "area");
    ck_assert(section_at(".rela.nv.constant0.one", 1) == NULL);
    ck_assert(find_record(".nv.info.one", EIATTR_BINDLESS_TEXTURE_BANK, NULL, &record));
    ck_assert_uint_eq(record.value, 0);
    ck_assert(find_record(".nv.info.one", EIATTR_BINDLESS_SURFACE_BANK, NULL, &record));
    ck_assert(!find_record(".nv.info.plain", EIATTR_BINDLESS_SURFACE_BANK, NULL, &record));
    ck_assert(!find_record(".nv.merc.nv.info.one", EIATTR_BINDLESS_TEXTURE_BANK, NULL, &record));
    /* Banks with words stand before code, others behind. */
    ck_assert(section(".nv.constant0.two") < section(".text.plain"));
    ck_assert(section(".nv.constant0.plain") > section(".text.two"));
}

TEST(twins_of_words_stand_in_no_bank)
{
    static const uint8_t empty[12];
    const struct cubin_section *words, *rows;
    uint32_t bank;

    merge_with(REQUEST(100), TWINS);
    ck_assert_uint_eq(merged->said.text.size, 0);
    words = section(WORDS("two"));
    ck_assert_uint_eq(words->type, SHT_CUDA_MERC_CONSTANT_IMAGE);
    ck_assert_uint_eq(words->flags, SHF_CUDA_MERCURY | SHF_ALLOC | SHF_INFO_LINK);
    ck_assert_uint_eq(words->info,
                      cubin_section_find(&merged->output, TEXT(".nv.capmerc.text.two")));
    ck_assert(bytes_equal(words->data, (struct bytes){empty, sizeof empty}));
    ck_assert(section_at(WORDS("plain"), 0) == NULL);
    rows = section(".nv.merc.rela.nv.constant.entry_image_header_indices.two");
    ck_assert_uint_eq(rows->data.size, 3 * sizeof(Elf64_Rela));
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"nearest", "image", "area"};
        static const uint32_t types[] = {R_MERCURY_SAMP_HEADER_INDEX, R_MERCURY_TEX_HEADER_INDEX,
                                         R_MERCURY_SURF_HEADER_INDEX};
        Elf64_Rela row;

        memcpy(&row, rows->data.data + i * sizeof row, sizeof row);
        ck_assert_uint_eq(row.r_offset, 8 - 4 * i);
        ck_assert_uint_eq(ELF64_R_TYPE(row.r_info), types[i]);
        ck_assert_uint_eq(ELF64_R_SYM(row.r_info), symbol_index(names[i]));
    }
    /* The symbol of the bank is that of the words. */
    bank = cubin_section_find(&merged->output, TEXT(".nv.constant0.two"));
    for (uint32_t i = 1; i < merged->output.symbol_count; i++) {
        Elf64_Sym row;

        if (merged->output.symbols[i].section != bank)
            continue;
        memcpy(&row, section(".nv.merc.symtab")->data.data + i * sizeof row, sizeof row);
        ck_assert_uint_eq(row.st_shndx, (size_t)(words - merged->output.sections));
        return;
    }
    ck_abort_msg("no symbol of the bank");
}

TEST(twins_of_code_count_words_from_0)
{
    static const struct {
        const char *code;
        size_t at;
        uint8_t value;
    } fields[] = {{".nv.capmerc.text.one", 0x3c, 4},
                  {".nv.capmerc.text.one", 0x5c, 8},
                  {".nv.capmerc.text.fetch", 0x2c, 4},
                  {".nv.capmerc.text.fetch", 0x4c, 8},
                  {".nv.capmerc.text.two", 0x3c, 0}};

    merge_with(REQUEST(100), TWINS);
    for (size_t i = 0; i < COUNT(fields); i++)
        ck_assert_uint_eq(section(fields[i].code)->data.data[fields[i].at], fields[i].value);
    ck_assert(section_at(".nv.merc.rela.text.one", 0) == NULL);
    ck_assert_uint_eq(bits(section(".text.one"), 0x10, 37, 17), 0x394);
}

TEST(addresses_of_kernels_are_left_to_the_driver)
{
    struct info_record record;

    merge("kernel-a.o kernel-b.o");
    ck_assert_uint_eq(count_relocations(".rela.text.launcher", R_CUDA_FUNC_DESC32_LO_32, "target"),
                      1);
    ck_assert_uint_eq(count_relocations(".rela.text.launcher", R_CUDA_FUNC_DESC32_HI_32, "target"),
                      1);
    ck_assert_uint_eq(count_relocations(".rela.nv.global.init", R_CUDA_FUNC_DESC_64, "target"), 1);
    ck_assert(find_record(".nv.info.launcher", EIATTR_EXTERNS, "target", &record));
}
