/* check_merge: the merger on small real cubins (fixtures/merge, made by ptxas 13.0): what must be
 * in the output, and every refusal with its text. Needs no CUDA. */

#include "base/text.h"
#include "input/used.h"
#include "resolve/merging.h"
#include "merged_output.h"

/* As nvlink 13.0 and 13.5: the second cubin is one of compute_80, which stands in byte 26. */
TEST(the_lowest_target_of_the_ptx_is_stated)
{
    read_nth_input(0, "07_call-sm_90-a.o");
    read_nth_input(1, "07_call-sm_90-b.o");
    input_bytes(1, ".note.nv.cuinfo")[26] = 80;
    merge_well(REQUEST(90), 2);
    ck_assert_uint_eq(little_u16(section(".note.nv.cuinfo")->data.data + 26), 80);
    ck_assert_uint_eq(merged->output.flags, 0x06005a04);
}

/* In either order. */
TEST_LOOP(strong_function_replaces_a_weak_one, 2)
{
    merge(_i ? "32_weakdiff-sm_90-b.o 32_weakdiff-sm_90-a.o"
             : "32_weakdiff-sm_90-a.o 32_weakdiff-sm_90-b.o");
    ck_assert_uint_eq(symbol("wf")->binding, STB_GLOBAL);
    ck_assert(section_at(".text.wf", 1) == NULL);
    ck_assert_mem_eq(section(".text.wf")->data.data, input_bytes((size_t)!_i, ".text.wf"),
                     section(".text.wf")->size);
}

/* Two frames, of 0x60 bytes each with what describes them all; the size of the function is in the
 * last word but one. */
TEST(frames_of_a_replaced_function_that_goes_are_emptied)
{
    static const uint8_t nothing[16];
    struct bytes frames;

    merge("replaced-a.o replaced-b.o");
    frames = section(".debug_frame")->data;
    ck_assert_uint_eq(frames.size, 0xc0);
    ck_assert_mem_eq(frames.data + 0x50, nothing, sizeof nothing);
    ck_assert_mem_eq(frames.data + 0xb0, nothing, sizeof nothing);
}

TEST(frames_of_a_function_that_lost_before_another_replaced_it_keep_their_range)
{
    static const uint8_t nothing[16];
    struct bytes frames;

    merge("replaced-a.o replaced-a.o replaced-b.o");
    frames = section(".debug_frame")->data;
    ck_assert_uint_eq(frames.size, 0x120);
    ck_assert_mem_eq(frames.data + 0x50, nothing, sizeof nothing);
    ck_assert_mem_ne(frames.data + 0xb0, nothing, sizeof nothing);
    ck_assert_mem_eq(frames.data + 0x110, nothing, sizeof nothing);
}

/* Two in each variable that counts alone, one in each weak one, and none in the second's; -r is no
 * different (nvlink 13.0 to 13.5). */
TEST_LOOP(addresses_in_variables_that_lost_are_gone, 2)
{
    merge_with(REQUEST(90, .relocatable = _i == 1), "lost-a.o lost-b.o");
    ck_assert_uint_eq(section(".nv.global.init")->size, 96);
    ck_assert_uint_eq(section(".rela.nv.global.init")->relocation_count, 6);
}

TEST(dead_functions_vanish_but_data_stays)
{
    merge("20_dead-sm_90-a.o 20_dead-sm_90-b.o");
    ck_assert_uint_eq(symbol_index("unused1"), 0);
    ck_assert(section_at(".text.unused2", 0) == NULL);
    ck_assert(section_at(".nv.info.helper", 0) == NULL);
    ck_assert_uint_ne(symbol_index("deadglob"), 0);
    ck_assert_uint_eq(merged->report.dead_functions, 3);
    ck_assert_str_eq(merged->report.dead_names[0], "unused1");
}

/* Host code names `other` alone. `parent` goes, but where its address is taken a kernel may be
 * launched. */
TEST(launched_kernel_stays_with_what_it_calls)
{
    const struct used_request request = {.kernels = (const char *const[]){"other", NULL}};
    struct used_names used = {0};

    ck_assert(used_collect(&used, NULL, &request));
    merge_with(REQUEST(90, .used = &used), "launched.o");
    ck_assert_uint_eq(symbol_index("parent"), 0);
    ck_assert_uint_ne(symbol_index("child"), 0);
    ck_assert_uint_ne(symbol_index("__cuda_sm20_sqrt_rn_f32_slowpath"), 0);
    ck_assert_uint_eq(count_relocations(".rela.text.child", R_CUDA_ABS55_16_34,
                                        "__cuda_sm20_sqrt_rn_f32_slowpath"),
                      1);
    used_free(&used);
}

/* An empty prototype, that of a kernel whose address is taken, is added as any other is. */
TEST(empty_prototype_is_a_string_of_its_own)
{
    struct bytes strings;

    merge("launch-a.o launch-b.o");
    strings = section(".strtab")->data;
    ck_assert_uint_gt(strings.size, 2);
    ck_assert_uint_eq(strings.data[1], 0);
    ck_assert_uint_ne(strings.data[2], 0);
}

/* In the order of the symbol table, where local kernels of all cubins stand before the others. */
TEST(stack_sizes_stand_in_the_order_of_symbols)
{
    uint32_t last = 0, count = 0;
    struct info_record record;

    read_nth_input(0, "kernel-a.o");
    read_nth_input(1, "entry.o");
    input_symbol(1, "w")->binding = STB_LOCAL;
    merge_well(REQUEST(90), 2);
    for (struct bytes rest = section(".nv.info")->data; info_next(&rest, &record);)
        if (record.attribute == EIATTR_MIN_STACK_SIZE) {
            ck_assert_uint_gt(info_word(record.payload, 0), last);
            last = info_word(record.payload, 0);
            count++;
        }
    ck_assert_uint_eq(count, 2);
}

TEST(recursion_warning_can_be_suppressed)
{
    merge_with(REQUEST(90, .suppress_stack_warning = true),
               "09_recursion-sm_90-a.o 09_recursion-sm_90-b.o");
    ck_assert_uint_eq(merged->said.text.size, 0);
}

TEST(externs_of_the_only_kernel_keep_their_order_when_it_has_them_all)
{
    struct info_record record;

    merge("driver-calls.o");
    ck_assert(find_record(".nv.info.only", EIATTR_EXTERNS, NULL, &record));
    ck_assert_uint_eq(record.payload.size, 8);
    ck_assert_uint_eq(info_word(record.payload, 0), symbol_index("free"));
    ck_assert_uint_eq(info_word(record.payload, 1), symbol_index("malloc"));
}

TEST(relocations_of_unified_addresses_have_plain_ones)
{
    static const uint32_t pairs[][2] = {{R_CUDA_UNIFIED, R_CUDA_64},
                                        {R_CUDA_UNIFIED_32, R_CUDA_32},
                                        {R_CUDA_UNIFIED32_LO_32, R_CUDA_ABS32_LO_32},
                                        {R_CUDA_UNIFIED32_HI_32, R_CUDA_ABS32_HI_32},
                                        {R_MERCURY_UNIFIED32_LO, R_MERCURY_G32_LO},
                                        {R_CUDA_64, R_CUDA_64}};

    for (size_t i = 0; i < COUNT(pairs); i++)
        ck_assert_uint_eq(relocation_types_find(pairs[i][0])->plain, pairs[i][1]);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(relocation_types_find(R_CUDA_UNIFIED_8_0 + i)->plain, R_CUDA_8_0 + i);
}

/* Dynamic arrays of 16, 1,024 and 256 bytes' alignment in k1, k2 and f, which both call; k3 has two
 * of 512 and 16. Expected are nvlink 13.5's sections and addresses, but where these are too small
 * for the kernel's own arrays: 0x30 for k3, 0x300 in the second order, and 0x700 for the size of
 * k1, whose arrays lie at 0x400. */
static const struct {
    const char *inputs, *kernel;
    uint64_t size, alignment;
    uint32_t address;
} dynamic[] = {
    {"dynamic-k1.o dynamic-k2.o dynamic-f.o", "k2", 0x800, 1024, 0x400},
    {"dynamic-f.o dynamic-k1.o dynamic-k2.o", "k2", 0x800, 1024, 0x400},
    {"dynamic-k1.o dynamic-k2.o dynamic-f.o", "k1", 0x800, 256, 0x400},
    {"dynamic-f.o dynamic-k1.o", "k1", 0x500, 256, 0x100},
    {"dynamic-k1.o dynamic-f.o", "k1", 0x500, 256, 0x100},
    {"dynamic-k3.o", "k3", 0x600, 512, 0x200},
};

TEST_LOOP(dynamic_arrays_have_the_address_that_all_of_them_need, COUNT(dynamic))
{
    char name[32];
    uint32_t address;

    merge_with(REQUEST(90, .toolkit = toolkits_find(135)), dynamic[_i].inputs);
    snprintf(name, sizeof name, ".nv.shared.%s", dynamic[_i].kernel);
    ck_assert_uint_eq(section(name)->size, dynamic[_i].size);
    ck_assert_uint_eq(section(name)->alignment, dynamic[_i].alignment);
    /* The first instruction that takes an address has it in its second word. */
    snprintf(name, sizeof name, ".text.%s", dynamic[_i].kernel);
    memcpy(&address, section(name)->data.data + 0x24, sizeof address);
    ck_assert_uint_eq(address, dynamic[_i].address);
}

/* Also kernels that use none: one variable is named by dead code only, and the launch's are
 * declared. */
TEST(every_kernel_has_shared_memory_where_arrays_of_the_launch_are_declared)
{
    merge("idle-shared.o");
    ck_assert_uint_eq(section(".nv.shared.first")->size, 0x400);
    ck_assert_uint_eq(section(".nv.shared.second")->size, 0x400);
    ck_assert_uint_eq(section(".nv.shared.second")->alignment, 16);
}

/* What nvlink 13.0 writes. */
TEST(shared_memory_of_bytes_needs_no_alignment)
{
    merge("bytes-shared.o");
    ck_assert_uint_eq(section(".nv.shared.k")->size, 0x403);
    ck_assert_uint_eq(section(".nv.shared.k")->alignment, 1);
}

TEST(kernels_without_shared_memory_have_none_where_no_array_is_declared)
{
    merge("idle-aligned.o");
    ck_assert_uint_eq(section(".nv.shared.k1")->size, section(".nv.shared.k2")->size);
    ck_assert_ptr_null(section_at(".nv.shared.k3", 0));
}

TEST(a_kernel_keeps_an_empty_section_of_shared_memory_that_it_comes_with)
{
    static const char name[] = ".nv.shared.k3";
    struct buffer *file = &merged->files[0];
    Elf64_Shdr *graph;

    read_input("idle-aligned.o");
    graph = files_header_of(file, ".nv.callgraph");
    *graph = (Elf64_Shdr){.sh_name = graph->sh_name,
                          .sh_type = SHT_CUDA_SHARED,
                          .sh_flags = SHF_INFO_LINK,
                          .sh_offset = graph->sh_offset,
                          .sh_info = input_section(".text.k3")};
    memcpy(memmem(file->data, file->size, ".nv.callgraph", sizeof name), name, sizeof name);
    reread_input(0);
    merge_well(REQUEST(90), 1);
    ck_assert_uint_eq(section(".nv.shared.k3")->size, 0x400); /* what the driver reserves */
}

TEST(dynamic_shared_arrays_of_nvlink_may_lack_their_alignment)
{
    for (size_t i = 0; i < 2; i++) {
        merge(i ? "array-r.o" : "array.o");
        ck_assert_uint_eq(section(".nv.shared.k")->size, 0x400);
        ck_assert_uint_eq(section(".nv.shared.k")->alignment, 16);
        restart();
    }
}

static bool is_greater(const void *context, uint32_t a, uint32_t b)
{
    const uint32_t *keys = context;

    return keys[a] > keys[b];
}

TEST(sort_orders_ties_as_nvlink)
{
    static const struct {
        size_t count;
        uint32_t keys[8];
        uint32_t order[8];
    } cases[] = {
        {1, {1}, {0}},
        {2, {1, 1}, {1, 0}},
        {3, {1, 1, 1}, {1, 0, 2}},
        {4, {1, 1, 1, 1}, {1, 3, 0, 2}},
        {4, {1, 2, 3, 4}, {3, 2, 1, 0}},
        {5, {2, 2, 9, 2, 2}, {2, 1, 3, 4, 0}},
        {8, {3, 1, 3, 2, 3, 1, 2, 3}, {7, 4, 0, 2, 3, 6, 5, 1}},
    };
    uint32_t items[8], scratch[8];

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (uint32_t i = 0; i < cases[c].count; i++)
            items[i] = i;
        index_lists_sort_unstably(items, cases[c].count, scratch, is_greater, cases[c].keys);
        for (size_t i = 0; i < cases[c].count; i++)
            ck_assert_msg(items[i] == cases[c].order[i], "case %zu: %u %u %u %u %u", c, items[0],
                          items[1], items[2], items[3], items[4]);
    }
}

TEST(only_targets_with_a_suffix_may_have_much_shared_memory)
{
    struct merge_request request = REQUEST(90);

    try_merge(request, "wide.o");
    expect_refused("Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)");
    restart();
    request.arch.suffix = 'a';
    merge_with(request, "wide.o");
    ck_assert_uint_eq(section(".nv.shared.k")->size, 0x10400);
}

/* Also of those that it does not call; each of several kernels has its own. */
TEST(the_only_kernel_has_the_barriers_of_all_functions)
{
    static const uint32_t barriers[] = {6, 0};

    for (int others = 0; others < 2; others++) {
        restart();
        merge(others ? "lone-kernel.o entry.o" : "lone-kernel.o");
        ck_assert(merged->report.kernels[1].is_kernel);
        ck_assert_uint_eq(merged->report.kernels[1].barriers, barriers[others]);
    }
}

TEST(report_tells_what_a_kernel_needs)
{
    merge("37_localdup-sm_90-a.o 37_localdup-sm_90-b.o");
    ck_assert_uint_eq(merged->report.kernel_count, 6);
    ck_assert(merged->report.kernels[2].is_kernel);
    ck_assert_uint_eq(merged->report.kernels[2].registers, 0x25);
    ck_assert_uint_eq(merged->report.kernels[2].constant0, 0x218);
    ck_assert_uint_eq(merged->report.kernels[2].stack, 0x18);
    ck_assert(!merged->report.kernels[0].is_kernel);
}

/* The records of a frame and of the largest stack stand the other way round than ptxas has them. */
TEST(a_frame_is_what_its_record_says_wherever_that_stands)
{
    uint8_t *records;

    read_input("12_common-sm_90-a.o");
    records = input_bytes(0, ".nv.info");
    ck_assert_uint_eq(nth_input_section(0, ".nv.info")->size,
                      36); /* REGCOUNT, MAX_STACK_SIZE, FRAME_SIZE of the kernel */
    ck_assert_uint_eq(records[13], EIATTR_MAX_STACK_SIZE);
    ck_assert_uint_eq(records[25], EIATTR_FRAME_SIZE);
    records[13] = EIATTR_FRAME_SIZE;
    records[20] = 16;
    records[25] = EIATTR_MAX_STACK_SIZE;
    records[32] = 80;
    merge_well(REQUEST(90), 1);
    ck_assert_uint_eq(merged->report.kernels[0].stack, 16);
}

static const struct {
    const char *names;
    const char *says;
} refusals[] = {
    {"07_call-sm_90-a.o", "error   : Undefined reference to 'f' in 'a.o'"},
    {"07_call-sm_90-a.o 07_call-sm_90-a.o",
     "error   : Multiple definition of 'k1' in 'b.o', first defined in 'a.o'"},
    {"07_call-sm_90-a.o 07_call-sm_90-a.o", "fatal   : merge_elf failed"},
    {"size-a.o size-b.o",
     "error   : Size doesn't match for 'v' in 'b.o', first specified in 'a.o'"},
    {"size-a.o space.o",
     "error   : Memory space doesn't match for 'v' in 'b.o', first specified in 'a.o'"},
    {"prototype-a.o prototype-b.o",
     "error   : Prototype doesn't match for 'pf' in 'b.o', first defined in 'b.o'"},
    {"const-a.o const-b.o",
     "error   : File uses too much global constant data (0x13880 bytes, 0x10000 max)"},
    {"shared-a.o shared-b.o",
     "error   : Entry function 'kf' uses too much shared data (0xea60 bytes, 0xc000 max)"},
    {"07_call-sm_90-a.o 04_const-sm_80-a.o",
     "fatal   : Input file 'b.o' arch does not match target 'sm_90'"},
    {"texture-a.o texture-data.o",
     "Memory space doesn't match for 'shared' in 'b.o', first specified in 'a.o'"},
    {"texture-data.o texture-a.o",
     "Multiple definition of 'shared' in 'b.o', first defined in 'a.o'"},
    {"texture-a.o texture-surface.o",
     "Multiple definition of 'shared' in 'b.o', first defined in 'a.o'"},
    {"surfaces.o", "fatal   : More than 32 surfaces used in entry function 'many'"},
};

TEST_LOOP(refuses_in_nvlinks_words, COUNT(refusals))
{
    diag_state_get()->verbose = 1;
    try_merge(REQUEST(90), refusals[_i].names);
    diag_state_get()->verbose = 0;
    expect_refused(refusals[_i].says);
}

/* A damaged input: a section without bytes that has the name of one with bytes. */
TEST(sections_of_one_name_must_be_of_one_kind)
{
    read_nth_input(0, "const-a.o");
    read_nth_input(1, "texture-data.o");
    nth_input_section(1, ".nv.global")->name = TEXT(".nv.constant3");
    merge_inputs(REQUEST(90), 2);
    expect_refused("error   : Section '.nv.constant3' has types that cannot be merged");
}

/* A damaged input: no section without bytes is read that is as large as this. */
TEST(a_section_does_not_grow_beyond_all_bounds)
{
    read_input("texture-data.o");
    nth_input_section(0, ".nv.global")->size = (UINT64_C(1) << 40) + 1;
    merge_input(REQUEST(90));
    expect_refused("error   : Section '.nv.global' is too large");
}

/* What the driver provides has one size. */
TEST(reserved_names_must_be_of_one_size)
{
    read_nth_input(0, "04_const-sm_90-a.o");
    read_nth_input(1, "04_const-sm_90-b.o");
    input_symbol(1, "__UFT")->size *= 2;
    merge_inputs(REQUEST(90), 2);
    expect_refused("error   : Size doesn't match for '__UFT' in 'b.o', first specified in 'a.o'");
}

/* Found by fuzzing. */
TEST(section_symbol_without_a_section_is_left_out)
{
    read_input("12_common-sm_90-a.o");
    /* Symbol 3 of the fixture is the section symbol of .text.k1. */
    ((Elf64_Sym *)(void *)input_bytes(0, ".symtab"))[3].st_shndx = SHN_ABS;
    reread_input(0);
    merge_well(REQUEST(90), 1);
}

/* The record of .nv.info of an input that says how many registers the first kernel, or the first
 * other function, needs; its words, to change them. */
static uint32_t *registers_record(size_t number, bool is_kernel)
{
    struct bytes rest = nth_input_section(number, ".nv.info")->data;
    struct info_record record;

    while (info_next(&rest, &record)) {
        const struct cubin_symbol *function =
            &merged->inputs[number].symbols[info_word(record.payload, 0)];

        if (record.attribute == EIATTR_REGCOUNT &&
            !!(function->other & STO_CUDA_ENTRY) == is_kernel)
            return (uint32_t *)(uintptr_t)(record.payload.data - 4);
    }
    ck_abort_msg("no such record");
}

/* Two cubins with the same weak function, which needs so many registers in each. The last byte of
 * its code tells which it is. */
static void merge_weak(const uint32_t registers[2])
{
    for (uint8_t i = 0; i < 2; i++) {
        read_nth_input(i, "replaced-a.o");
        input_bytes(i, ".text.f")[nth_input_section(i, ".text.f")->size - 1] = i;
        registers_record(i, false)[2] = registers[i];
    }
    merge_well(REQUEST(90, .relocatable = true), 2);
}

TEST_LOOP(of_weak_functions_the_first_with_the_fewest_registers_stays, 4)
{
    static const struct {
        uint32_t registers[2];
        uint8_t stays;
    } rows[] = {{{9, 8}, 1}, {{8, 9}, 0}, {{8, 8}, 0}, {{8, 0}, 0}};
    struct bytes code;

    merge_weak(rows[_i].registers);
    code = section(".text.f")->data;
    ck_assert_uint_eq(code.data[code.size - 1], rows[_i].stays);
}

/* Measured: of a kernel nvlink does not ask it. */
TEST_LOOP(functions_that_are_called_say_how_many_registers_they_need, 2)
{
    read_input("32_weakdiff-sm_90-a.o");
    ((uint8_t *)registers_record(0, _i == 1))[1] = 0x7f;
    merge_input(REQUEST(90));
    ck_assert_int_eq(merged->ok, _i == 1);
    if (_i == 0)
        expect_said("error   : 'a.o' does not say how many registers 'wf' needs");
}

/* Symbol 1 of the fixture is that of a section. */
TEST_LOOP(registers_of_what_is_no_function_are_refused_but_with_r, 2)
{
    read_input("32_weakdiff-sm_90-a.o");
    registers_record(0, true)[1] = 1;
    merge_input(REQUEST(90, .relocatable = _i == 1));
    ck_assert_int_eq(merged->ok, _i == 1);
    if (_i == 0)
        expect_said("error   : 'a.o' says how many registers symbol 1 needs, which is no function");
}

/* Measured: nvlink writes it with its own flags, and also where the first cubin has none. */
TEST(the_note_of_tools_is_the_linkers)
{
    struct cubin_section *sections;

    for (int has_note = 0; has_note < 2; has_note++) {
        read_input("entry.o");
        sections = merged->inputs[0].sections;
        sections[input_section(".nv.compat")].flags = 0xffff00;
        sections[input_section(".note.nv.tkinfo")].flags = 0xffff00;
        if (!has_note)
            sections[input_section(".note.nv.tkinfo")].name = TEXT(".note.other");
        merge_well(REQUEST(90), 1);
        ck_assert_uint_eq(section(".note.nv.tkinfo")->flags, 0x2000000);
        ck_assert_uint_gt(section(".note.nv.tkinfo")->size, 0);
        ck_assert_uint_eq(section(".nv.compat")->flags, 0);
        restart();
    }
}

/* Found by fuzzing. */
TEST(record_for_a_symbol_that_vanishes_is_refused)
{
    struct info_record record = {0};
    struct bytes rest;

    read_input("12_common-sm_90-a.o");
    rest = nth_input_section(0, ".nv.info.k1")->data;
    while (info_next(&rest, &record) && record.attribute != EIATTR_PARAM_CBANK)
        ;
    *(uint8_t *)(uintptr_t)record.payload.data = 4; /* a unified table */
    merge_input(REQUEST(90));
    expect_refused("Record 0xa in 'a.o' is for symbol 4, which is not in the output");
}

TEST(relocatable_output_may_have_undefined_symbols)
{
    merge_with(REQUEST(90, .relocatable = true), "07_call-sm_90-a.o");
    ck_assert_uint_eq(symbol("f")->section, SHN_UNDEF);
}

/* Found by fuzzing: code that says its sh_info is a section. */
TEST(info_of_code_is_no_section)
{
    read_input("10_fptr-sm_90-a.o");
    patch_section(".text.k1", offsetof(Elf64_Shdr, sh_flags),
                  SHF_ALLOC | SHF_EXECINSTR | SHF_INFO_LINK, 8);
    merge_well(REQUEST(90, .relocatable = true), 1);
    ck_assert_uint_eq(section(".text.k1")->flags, SHF_ALLOC | SHF_EXECINSTR);
}

static uint32_t section_row(const char *name)
{
    const struct cubin *output = &merged->output;

    for (uint32_t i = 1; i < output->symbol_count; i++)
        if (cubin_names_section(output, &output->symbols[i]) &&
            text_equal(output->sections[output->symbols[i].section].name, text_of(name)))
            return i;
    ck_abort_msg("no row for %s", name);
}

/* As in nvlink 13.0 to 13.5; of libcufft_static.a the first members have data only, too. */
TEST(frames_come_with_the_first_cubin_though_it_has_no_functions)
{
    merge_with(REQUEST(90), "56_constaddress-sm_90-b.o 56_constaddress-sm_90-a.o");
    ck_assert_uint_lt(section_row(".nv.constant3"), section_row(".debug_frame"));
    ck_assert_uint_lt(section_row(".debug_frame"), section_row(".text.k"));
}
