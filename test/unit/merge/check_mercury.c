/* check_mercury.c: the second form of code from sm_100 on, and frames there, on real cubins. */
#include "merge/relocate.h"
#include "merged_output.h"

static uint32_t word_at(struct bytes data, size_t at)
{
    uint32_t word;

    ck_assert_uint_le(at + sizeof word, data.size);
    memcpy(&word, data.data + at, sizeof word);
    return word;
}

static Elf64_Sym twin_symbol(uint32_t index)
{
    struct bytes table = section(".nv.merc.symtab")->data;
    Elf64_Sym row;

    ck_assert_uint_lt(index, table.size / sizeof row);
    memcpy(&row, table.data + index * sizeof row, sizeof row);
    return row;
}

TEST(twin_of_code_tells_the_section_of_the_code)
{
    static const char *const names[][2] = {{".nv.capmerc.text.k1", ".text.k1"},
                                           {".nv.capmerc.text.k2", ".text.k2"}};

    merge_with(REQUEST(100), "04_const-sm_100-a.o 04_const-sm_100-b.o");
    ck_assert_uint_eq(merged->said.text.size, 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_eq(word_at(section(names[i][0])->data, 0),
                          cubin_section_find(&merged->output, text_of(names[i][1])));
}

TEST(symbols_stand_in_their_twins)
{
    Elf64_Sym twin;

    merge_with(REQUEST(100), "04_const-sm_100-a.o 04_const-sm_100-b.o");
    twin = twin_symbol(symbol_index("k1"));
    ck_assert_uint_eq(twin.st_shndx,
                      cubin_section_find(&merged->output, TEXT(".nv.capmerc.text.k1")));
    ck_assert_uint_eq(twin.st_size, 0x150); /* in the intermediate form */
    twin = twin_symbol(symbol_index("cc"));
    ck_assert_uint_eq(ELF64_ST_TYPE(twin.st_info), STT_CUDA_OBJECT);
    ck_assert_uint_eq(twin.st_other, STO_CUDA_CONST);
    ck_assert_uint_eq(twin.st_value, symbol("cc")->value);
    ck_assert_uint_eq(twin.st_shndx,
                      cubin_section_find(&merged->output, TEXT(".nv.merc.nv.constant.user")));
}

TEST(constants_are_written_into_both_forms)
{
    merge_with(REQUEST(100), "04_const-sm_100-a.o 04_const-sm_100-b.o");
    ck_assert_uint_eq(word_at(section(".nv.capmerc.text.k1")->data, 0x7c), symbol("cc")->value);
    ck_assert_uint_eq(word_at(section(".nv.capmerc.text.k2")->data, 0x6c), symbol("ca")->value + 8);
    ck_assert(section_at(".nv.merc.rela.text.k1", 0) == NULL);
}

TEST(records_of_code_without_long_slots_are_understood)
{
    merge_with(REQUEST(120), "04_const-sm_120-a.o 04_const-sm_120-b.o");
    ck_assert_uint_eq(merged->said.text.size, 0);
    section(".nv.capmerc.text.k2");
}

TEST(frames_of_dead_functions_are_gone_but_not_in_the_twin)
{
    merge_with(REQUEST(100), "20_dead-sm_100-a.o 20_dead-sm_100-b.o");
    ck_assert_uint_eq(section(".debug_frame")->size, 0xd0);
    ck_assert_uint_eq(section(".nv.merc.debug_frame")->size, 0x230);
    ck_assert_uint_eq(word_at(section(".debug_frame")->data, 0xa0 + 12), 0x68); /* its CIE */
    ck_assert_uint_eq(section(".rela.debug_frame")->relocation_count, 2);
    ck_assert(section_at(".nv.capmerc.text.unused1", 0) == NULL);
}

/* The same where the relocation of the dead one's frame comes first. */
TEST_LOOP(frames_are_found_in_any_order, 3)
{
    struct cubin_relocation *list, moved;

    read_nth_input(0, "20_dead-sm_100-a.o");
    read_nth_input(1, "20_dead-sm_100-b.o");
    list = input_relocations(0, ".rela.debug_frame");
    moved = list[0];
    list[0] = list[_i];
    list[_i] = moved;
    merge_well(REQUEST(100), 2);
    ck_assert_uint_eq(section(".debug_frame")->size, 0xd0);
    ck_assert_uint_eq(section(".rela.debug_frame")->relocation_count, 2);
}

/* CAN_FASTPATH_FINALIZE, the last record of .nv.compat. */
static uint32_t fast_path(void)
{
    struct bytes records = section(".nv.compat")->data;

    ck_assert_uint_ge(records.size, 12);
    ck_assert_uint_eq(word_at(records, records.size - 12), 0x080b04);
    return word_at(records, records.size - 8);
}

TEST(dead_code_does_not_say_how_code_may_be_finalized)
{
    merge_with(REQUEST(100), "20_dead-sm_100-a.o 20_dead-sm_100-b.o slowroot-sm_100.o");
    ck_assert_uint_eq(fast_path(), 9);
}

TEST(code_that_stays_says_how_it_may_be_finalized)
{
    merge_with(REQUEST(100, .relocatable = true),
               "20_dead-sm_100-a.o 20_dead-sm_100-b.o slowroot-sm_100.o");
    ck_assert_uint_eq(fast_path(), 1);
}

TEST(without_code_nothing_is_finalized)
{
    merge_with(REQUEST(100), "slowroot-sm_100.o");
    ck_assert_uint_eq(fast_path(), 0);
}

TEST(code_of_another_target_of_the_family_does_not_say_how_it_may_be_finalized)
{
    merge_with(REQUEST(103), "20_dead-sm_100-a.o 20_dead-sm_100-b.o");
    ck_assert_uint_eq(fast_path(), 0);
}

/* Two frames, of 0x70 bytes each with what describes them all; the size of the function in the
 * intermediate form, 0x20, stands at 0x54. */
TEST(twins_of_frames_of_a_replaced_function_that_goes_are_emptied)
{
    struct bytes frames;

    merge_with(REQUEST(100), "replaced-sm_100-a.o replaced-sm_100-b.o");
    frames = section(".nv.merc.debug_frame")->data;
    ck_assert_uint_eq(frames.size, 0xe0);
    ck_assert_uint_eq(word_at(frames, 0x54), 0);
    ck_assert_uint_eq(word_at(frames, 0x70 + 0x54), 0);
}

/* As the plain ones: each function that stays has one frame with its address. */
TEST(twins_of_frames_of_a_replaced_function_with_relocations_have_no_address)
{
    merge_with(REQUEST(100),
               "45_replaced-sm_100-a.o 45_replaced-sm_100-b.o 45_replaced-sm_100-c.o");
    ck_assert_uint_eq(section(".rela.debug_frame")->relocation_count, 5);
    ck_assert_uint_eq(section(".nv.merc.rela.debug_frame")->data.size, 5 * sizeof(Elf64_Rela));
}

TEST(relocatable_output_has_twins)
{
    merge_with(REQUEST(100, .relocatable = true), "04_const-sm_100-a.o");
    ck_assert(section_at(".nv.capmerc.text.k1", 0) != NULL);
    ck_assert(section_at(".nv.merc.rela.text.k1", 0) != NULL);
    ck_assert(section_at(".nv.merc.symtab", 0) != NULL);
}

static uint64_t value_of(const char *name)
{
    return symbol(name)->value;
}

/* The 32 bits from 32 on of an instruction: the offset of a shared variable. */
static uint32_t shared_offset(const char *text, size_t at)
{
    return word_at(section(text)->data, at + 4);
}

#define OF_TARGET "__nv_reservedSMEM_gb10b_war_var"
#define OF_TENSOR "__nv_reservedSMEM_tcgen05_partition"

/* What nvlink 13.0 makes of the same cubins. Both declare one of the variables. */
TEST(variables_in_the_reserve_get_their_places)
{
    merge_with((struct merge_request){.arch = {.sm = 110, .suffix = 'a'}},
               "50_tensor-sm_110a-a.o 50_tensor-sm_110a-b.o");
    ck_assert_uint_eq(merged->said.text.size, 0);
    ck_assert_uint_eq(section(".nv.shared.reserved.0")->size, 0xe0);
    ck_assert_uint_eq(section(".nv.shared.reserved.0")->alignment, 16);
    ck_assert_uint_eq(section(".nv.shared.reserved.0")->type, SHT_NOBITS);
    ck_assert_uint_eq(value_of(OF_TARGET), 0x40);
    ck_assert_uint_eq(value_of(OF_TENSOR), 0xc0);
    ck_assert_uint_eq(symbol(OF_TARGET)->other, 0);
    ck_assert_uint_eq(shared_offset(".text.k2", 0x20), 0xc0);
    ck_assert_uint_eq(section(".nv.merc.nv.shared.reserved.0")->data.size, 0xa0);
    ck_assert_uint_eq(twin_symbol(symbol_index(OF_TARGET)).st_value, 0);
    ck_assert_uint_eq(twin_symbol(symbol_index(OF_TENSOR)).st_value, 0x80);
    ck_assert_uint_eq(twin_symbol(symbol_index(OF_TENSOR)).st_other, STO_CUDA_RESERVED_SHARED);
}

TEST(variables_in_the_reserve_wait_for_the_last_link)
{
    merge_with((struct merge_request){.arch = {.sm = 110, .suffix = 'a'}, .relocatable = true},
               "50_tensor-sm_110a-a.o 50_tensor-sm_110a-b.o");
    ck_assert_uint_eq(section(".nv.shared.reserved.0")->size, 0xa0);
    ck_assert_uint_eq(section(".nv.shared.reserved.0")->type, SHT_CUDA_RESERVED_SHARED);
    ck_assert_uint_eq(value_of(OF_TARGET), 16);
    ck_assert_uint_eq(value_of(OF_TENSOR), 1);
}

/* One byte more than there are behind the driver's own 0x40. */
TEST(reserve_is_not_exceeded)
{
    read_input("50_tensor-sm_110a-a.o");
    input_symbol(0, OF_TARGET)->size = 0x3c1;
    merge_input((struct merge_request){.arch = {.sm = 110, .suffix = 'a'}});
    expect_refused("need more than the 0x400 bytes that the driver reserves");
}

/* Found by fuzzing: the list stayed without its target where the twins were left out. */
TEST(plain_relocations_of_a_twin_are_refused)
{
    read_input("04_const-sm_100-a.o");
    patch_section(".rela.debug_frame", offsetof(Elf64_Shdr, sh_info),
                  input_section(".nv.merc.debug_frame"), 4);
    merge_input(REQUEST(100));
    expect_refused("error   : Misplaced relocation type");
}

/* Only what knows the slots of intermediate code may write into it. The relocation names the
 * section symbol of the plain code, which means the twin here. */
TEST(addresses_in_twins_of_code_are_refused)
{
    const struct cubin *cubin = &merged->inputs[0];
    uint32_t code, symbol = 0;

    read_input("04_const-sm_100-a.o");
    code = input_section(".text.k1");
    while (symbol < cubin->symbol_count &&
           (cubin->symbols[symbol].section != code || cubin->symbols[symbol].type != STT_SECTION))
        symbol++;
    ck_assert_uint_lt(symbol, cubin->symbol_count);
    input_relocations(0, ".nv.merc.rela.text.k1")[0] =
        (struct cubin_relocation){.symbol = symbol, .type = R_MERCURY_64};
    merge_input(REQUEST(100));
    expect_said("a relocation is misplaced");
}

/* Sizes of debug information and the place of a field of 8 bytes in it. */
static const struct field {
    size_t size;
    uint64_t place;
    bool fits;
} fields[] = {{8, 0, true},       {7, 0, false},       {4, 0, false},
              {0x70, 0x68, true}, {0x70, 0x69, false}, {0x70, UINT64_MAX, false}};

TEST_LOOP(fields_of_twins_lie_in_them, COUNT(fields))
{
    struct cubin_relocation *relocation;
    struct cubin_section *frames;

    read_input("04_const-sm_100-a.o");
    frames = nth_input_section(0, ".nv.merc.debug_frame");
    relocation = input_relocations(0, ".nv.merc.rela.debug_frame");
    while (cubin_twin_section(&merged->inputs[0], relocation->symbol) !=
           input_section(".nv.merc.debug_frame"))
        relocation++;
    ck_assert_uint_eq(relocation->type, R_MERCURY_64);
    relocation->offset = fields[_i].place;
    frames->size = frames->data.size = fields[_i].size;
    merge_input(REQUEST(100));
    if (fields[_i].fits)
        ck_assert_uint_eq(merged->said.text.size, 0);
    else
        expect_said("a relocation is misplaced");
}

/* Two instructions of which one stands there: a uniform load from bank 3. */
static const uint8_t one_load[] = {1, 0,    0,    0, 1, 0, 0, 0xc0, 2, 0, 0, 0, 1, 0,   0,
                                   0, 0x02, 0x22, 8, 6, 0, 0, 0,    0, 0, 0, 0, 0, 0x42};

static void make_load(uint8_t data[48])
{
    memset(data, 0, 48);
    memcpy(data, one_load, sizeof one_load);
}

static const struct mercury_operand uniform_load = {.value = 0x1234, .load = MERCURY_LOAD_UNIFORM};

/* The load's field is the last word of the code. */
static void expect_patched(uint8_t *data, size_t size)
{
    ck_assert(mercury_code_patch(data, size, &uniform_load, 1));
    ck_assert_uint_eq(word_at((struct bytes){data, size}, size - 4), 0x1234);
}

TEST(field_of_a_load_is_found)
{
    uint8_t data[48];

    make_load(data);
    expect_patched(data, sizeof data);
}

/* The only one of 32, for which there are as many bits. */
TEST(bits_of_instructions_fill_words)
{
    uint8_t data[48];

    make_load(data);
    data[8] = 32;
    memset(data + 12, 0xff, 4);
    data[12] = 0xfe;
    expect_patched(data, sizeof data);
}

/* CUDA 12.8's has the number of instructions in its second word. */
TEST(field_of_a_load_is_found_behind_two_words)
{
    uint8_t data[48];

    make_load(data);
    memmove(data + 4, data + 8, sizeof data - 8);
    data[7] = 0x40;
    expect_patched(data, 44);
    ck_assert(!mercury_code_patch(data, 43, &uniform_load, 1));
}

struct change {
    size_t at; /* which byte of the code is changed */
    uint8_t to;
    size_t size;
    size_t count;
};

static const struct change changes[] = {
    {8, 2, 48, 2},     /* two fields are to be written, one is there */
    {28, 0x41, 48, 1}, /* another bank */
    {16, 0x07, 48, 1}, /* a record of unknown size */
    {7, 0, 48, 1},     /* no twin of code */
    {12, 3, 48, 1},    /* no instruction should stand there */
    {12, 0, 48, 1},    /* another should */
    {11, 0xff, 48, 1}, /* more instructions than bits */
    {8, 2, 47, 1},     /* cut off */
    {8, 2, 11, 1},     /* no header */
};

TEST_LOOP(code_that_is_not_understood_is_refused, COUNT(changes))
{
    const struct change *change = &changes[_i];
    const struct mercury_operand operands[] = {{.value = 0x1234, .load = MERCURY_LOAD_UNIFORM},
                                               {.value = 0x5678, .load = MERCURY_LOAD_UNIFORM}};
    uint8_t data[48];

    make_load(data);
    data[change->at] = change->to;
    ck_assert(!mercury_code_patch(data, change->size, operands, change->count));
}

/* Takes the contents of a section of an input. */
static void empty(size_t number, const char *name)
{
    struct cubin_section *section = nth_input_section(number, name);

    ck_assert_uint_gt(section->size, 0);
    section->size = 0;
    section->data.size = 0;
}

TEST(kernels_that_reach_empty_constants_have_a_section)
{
    read_nth_input(0, "switch-sm_100-a.o");
    read_nth_input(1, "switch-sm_100-b.o");
    empty(0, ".nv.constant2.sw");
    empty(0, ".nv.merc.nv.constant.optimizer.sw");
    empty(0, ".nv.merc.rela.nv.constant.optimizer.sw");
    empty(1, ".nv.constant2.k2");
    empty(1, ".nv.merc.nv.constant.optimizer.k2");
    empty(1, ".nv.merc.rela.nv.constant.optimizer.k2");
    merge_well(REQUEST(100), 2);
    ck_assert_uint_eq(section(".nv.constant2.k1")->size, 0);
}
