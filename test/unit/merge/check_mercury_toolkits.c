/* check_mercury_toolkits.c: what differs from toolkit to toolkit from sm_100 on, on cubins of 13.3
 * and 13.5: code that an older finalizer made, sm_107, names and bindings of symbols. */
#include "cubin/cubin.h"
#include "merged_output.h"

#define TEXTURES "14_tex-sm_107-13.5-a.o 14_tex-sm_107-13.5-b.o"
#define OLD      "07_call-sm_100-13.3-a.o 07_call-sm_100-13.3-b.o"
#define STAYS    "Code in 'a.o', 'b.o' stays as older toolkits than CUDA "
#define ADDED    0x67 /* what the finalizer adds for sm_107 */

static struct merge_request request_for(unsigned sm, unsigned version)
{
    return REQUEST(sm, .toolkit = toolkits_find(version));
}

static bool has_added(const char *in)
{
    struct info_record record;

    return find_record(in, ADDED, NULL, &record) && record.format == EIFMT_BVAL &&
           record.value == 0;
}

/* Makes the input one of another toolkit: the last words of .note.nv.cuinfo. */
static void make_of(size_t number, uint16_t version)
{
    memcpy(input_bytes(number, ".note.nv.cuinfo") + 28, &version, sizeof version);
    ck_assert_uint_eq(cubin_maker(&merged->inputs[number]), version);
}

static void read_textures(void)
{
    read_nth_input(0, "14_tex-sm_107-13.5-a.o");
    read_nth_input(1, "14_tex-sm_107-13.5-b.o");
}

/* nvlink 13.5 makes the same of them. */
TEST(functions_that_only_the_code_of_the_target_calls_are_not_in_mercury)
{
    static const char *const names[] = {"__cuda_syscall_bw_do_2d_tex_level",
                                        "__cuda_syscall_bw_do_2d_suld",
                                        "__cuda_syscall_bw_do_2d_sust"};
    struct info_record record;
    size_t rows;

    merge_with(request_for(107, 135), TEXTURES);
    ck_assert_uint_eq(merged->said.text.size, 0);
    rows = section(".nv.merc.symtab")->size / sizeof(Elf64_Sym);
    ck_assert_uint_eq(rows, 10);
    for (size_t i = 0; i < COUNT(names); i++)
        ck_assert_uint_ge(symbol_index(names[i]), rows);
    ck_assert_uint_lt(symbol_index("k2"), rows);
    ck_assert_uint_eq(section(".nv.callgraph")->size, 4 * 8 + 3 * 8);
    ck_assert_uint_eq(section(".nv.merc.nv.callgraph")->size, 4 * 8);
    ck_assert(find_record(".nv.info.k2", EIATTR_EXTERNS, NULL, &record));
    ck_assert(!find_record(".nv.merc.nv.info.k2", EIATTR_EXTERNS, NULL, &record));
}

TEST(the_mercury_form_needs_fewer_registers_and_no_stack)
{
    struct info_record record;

    merge_with(request_for(107, 135), TEXTURES);
    ck_assert_uint_eq(attribute_of("k1", EIATTR_REGCOUNT), 0x18);
    ck_assert_uint_eq(attribute_of("k1", EIATTR_MIN_STACK_SIZE), 0x58);
    ck_assert(find_record(".nv.merc.nv.info", EIATTR_REGCOUNT, "k1", &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 0xa);
    ck_assert(find_record(".nv.merc.nv.info", EIATTR_MIN_STACK_SIZE, "k1", &record));
    ck_assert_uint_eq(info_word(record.payload, 1), 0);
}

TEST(sm_107_has_a_record_of_its_own)
{
    merge_with(request_for(107, 135), TEXTURES);
    ck_assert(has_added(".nv.info.k1") && has_added(".nv.info.k2"));
    ck_assert(!has_added(".nv.merc.nv.info.k1"));
    restart();
    merge_with(REQUEST(107, .toolkit = toolkits_find(135), .relocatable = true), TEXTURES);
    ck_assert(!has_added(".nv.info.k1"));
}

TEST(nothing_is_claimed_of_code_that_an_older_finalizer_made)
{
    read_textures();
    make_of(1, 133);
    merge_well(request_for(107, 135), 2);
    ck_assert(has_added(".nv.info.k1") && !has_added(".nv.info.k2"));
    expect_said("Code in 'b.o' stays as older toolkits than CUDA 13.5 made it");
}

TEST(older_code_is_named_once)
{
    merge_with(request_for(100, 133), OLD);
    ck_assert_uint_eq(merged->said.text.size, 0);
    restart();
    merge_with(request_for(100, 134), OLD);
    expect_said(STAYS "13.4 made it, although nvlink would finalize it anew");
    ck_assert_ptr_null(strstr(strstr(merged->said.text.data, STAYS) + 1, STAYS));
    restart();
    merge_with(REQUEST(100, .toolkit = toolkits_find(134), .relocatable = true), OLD);
    ck_assert_uint_eq(merged->said.text.size, 0); /* nvlink -r keeps it, too */
}

/* Makes a record one of another attribute, of which nothing is known. */
static void hide_version(const char *in)
{
    uint8_t *at = memmem(input_bytes(0, in), nth_input_section(0, in)->size, "\x03\x5f", 2);

    ck_assert_ptr_nonnull(at);
    at[1] = 0x5e;
}

TEST(code_of_cuda_12_9_is_of_the_first_version)
{
    static const char *const sections[] = {".nv.info.f", ".nv.merc.nv.info.f"};

    for (size_t i = 0; i < COUNT(sections); i++) {
        struct info_record record;
        struct bytes records;

        read_input("07_call-sm_100-13.3-b.o");
        hide_version(sections[i]);
        merge_input(REQUEST(100, .toolkit = toolkits_find(133), .relocatable = true));
        records = section(sections[i])->data;
        ck_assert(info_next(&records, &record));
        ck_assert_uint_eq(record.attribute, EIATTR_MERCURY_ISA_VERSION);
        ck_assert_uint_eq(record.value, 0x100);
        restart();
    }
}

/* nvlink takes it, but most of the functions get other instructions. */
TEST(code_that_has_to_be_finalized_is_refused)
{
    try_merge(request_for(107, 135), "07_call-sm_100-13.5-a.o 07_call-sm_100-13.5-b.o");
    expect_refused(
        "Input file 'a.o' is code for sm_100, of which only NVIDIA's finalizer makes code "
        "for 'sm_107': compile it for that target");
}

TEST(section_symbols_of_constants_have_the_names_of_twins_from_13_5_on)
{
    for (unsigned version = 134; version <= 135; version++) {
        bool is_like_twin = false;

        merge_with(request_for(100, version), "switch-sm_100-a.o switch-sm_100-b.o");
        for (size_t i = 1; i < merged->output.symbol_count; i++)
            if (merged->output.symbols[i].type == STT_SECTION)
                is_like_twin |=
                    text_equal(merged->output.symbols[i].name, TEXT(".nv.constant.optimizer.k1"));
        section(".nv.constant2.k1");
        ck_assert_uint_eq(is_like_twin, version == 135);
        restart();
    }
}

/* Up to sm_90 they keep their places among the global ones, as nvlink has it. */
TEST(shared_variables_are_local_under_g_from_13_4_on)
{
    for (unsigned version = 133; version <= 134; version++) {
        const struct cubin_symbol *shared;

        merge_with(REQUEST(90, .toolkit = toolkits_find(version), .debug = true),
                   "31_sharedmix-sm_90-a.o 31_sharedmix-sm_90-b.o");
        shared = symbol("onlyk3");
        ck_assert_uint_eq(shared->binding, version == 134 ? STB_LOCAL : STB_GLOBAL);
        ck_assert_uint_gt(symbol_index("onlyk3"), section(".symtab")->info);
        ck_assert_uint_eq(symbol("dy")->binding, STB_GLOBAL);
        restart();
    }
}

/* The first cubin calls vprintf before any other names it; the kernels of both have parameters. */
TEST(cubins_that_name_a_function_first_have_one_without_name_under_g_up_to_12_9)
{
    for (unsigned version = 129; version <= 130; version++) {
        uint32_t nameless = 0;
        struct info_record of_first, of_second;

        merge_with(REQUEST(80, .toolkit = toolkits_find(version), .preserve_relocations = true),
                   "13_printf-sm_80-11.8-a.o 13_printf-sm_80-11.8-b.o");
        for (uint32_t i = 1; i < merged->output.symbol_count; i++)
            if (merged->output.symbols[i].name.size == 0 &&
                merged->output.symbols[i].type == STT_FUNC)
                nameless = nameless ? UINT32_MAX : i;
        ck_assert_uint_eq(nameless != 0, version == 129);
        ck_assert_uint_eq(merged->output.toolkit, version == 129 ? 129 : 118);
        ck_assert_uint_lt(nameless, section(".symtab")->info);
        ck_assert(find_record(".nv.info.k1", EIATTR_KPARAM_INFO, NULL, &of_first));
        ck_assert_uint_eq(info_word(of_first.payload, 0), nameless);
        ck_assert(find_record(".nv.info.k2", EIATTR_KPARAM_INFO, NULL, &of_second));
        ck_assert_uint_eq(info_word(of_second.payload, 0), 0);
        restart();
    }
}

TEST(a_function_without_name_is_in_mercurys_table_too)
{
    uint32_t nameless = 1;
    Elf64_Sym rows[2];
    struct bytes twins;

    merge_with(REQUEST(100, .toolkit = toolkits_find(129), .debug = true), OLD);
    while (merged->output.symbols[nameless].name.size ||
           merged->output.symbols[nameless].type != STT_FUNC)
        ck_assert_uint_lt(++nameless, merged->output.symbol_count);
    twins = section(".nv.merc.symtab")->data;
    memcpy(&rows[0], section(".symtab")->data.data + nameless * sizeof *rows, sizeof *rows);
    memcpy(&rows[1], twins.data + nameless * sizeof *rows, sizeof *rows);
    ck_assert_mem_eq(&rows[0], &rows[1], sizeof *rows);
}

/* Of the second cubin's unit, behind the first one's 0x69 bytes of lines, 0x73 in the Mercury form.
 */
TEST(a_units_lines_are_found_by_the_relocation_and_from_13_5_on_by_the_field)
{
    for (unsigned version = 134; version <= 135; version++) {
        struct bytes list, unit;
        uint32_t field = 0;
        Elf64_Rela row = {0};

        merge_with(REQUEST(100, .toolkit = toolkits_find(version), .debug = true),
                   "02_two-lines-sm_100-13.5-a.o 02_two-lines-sm_100-13.5-b.o");
        list = section(".nv.merc.rela.debug_info")->data;
        unit = section(".nv.merc.debug_info")->data;
        for (size_t at = 0; at < list.size && ELF64_R_TYPE(row.r_info) != R_MERCURY_PROG_REL32;
             at += sizeof row)
            memcpy(&row, list.data + at, sizeof row);
        ck_assert_uint_eq(ELF64_R_TYPE(row.r_info), R_MERCURY_PROG_REL32);
        ck_assert_int_eq(row.r_addend, 0x73);
        memcpy(&field, unit.data + row.r_offset, sizeof field);
        ck_assert_uint_eq(field, version == 135 ? 0x69 : 0);
        restart();
    }
}
