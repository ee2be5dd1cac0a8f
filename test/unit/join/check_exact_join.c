/* Joining chunks that were assembled as whole programs: the bytes of the unsplit program, and
 * nothing when they do not fit together. The cubins are ptxas's (fixtures/exact). */

#include "join/join.h"
#include "base/context.h"
#include "join/exact_internal.h"
#include "files.h"
#include "suite.h"

static const char *const programs[] = {"sm_75",       "sm_90",       "sm_100",
                                       "lines-sm_75", "lines-sm_90", "lines-sm_100"};

#define TARGETS 3 /* programs of each kind */

/* Of fixtures/exact/lines.ptx, without its last function. */
#define LINES 48

/* A whole program and its two chunks, and what these are joined to. */
static struct {
    struct buffer whole;
    struct buffer chunks[2];
    struct text kernels[4];
    struct text closing[2]; /* in both chunks */
    struct exact_join_request request;
    struct exact_join_difference why;
    struct buffer image;
} program;

void tear_down(void)
{
    buffer_free(&program.whole);
    buffer_free(&program.chunks[0]);
    buffer_free(&program.chunks[1]);
    buffer_free(&program.image);
    memset(&program, 0, sizeof program);
}

static struct buffer load(const char *fixture, const char *name)
{
    return files_load(suite_print("fixtures/exact/%s-%s.cubin", fixture, name));
}

/* Opens the files of a fixture anew; names are separated by blanks. */
static void open_fixture(const char *fixture, const char *whole, const char *const chunks[2],
                         const char *kernels)
{
    tear_down();
    program.whole = load(fixture, whole);
    for (size_t i = 0; i < 2; i++)
        program.chunks[i] = load(fixture, chunks[i]);
    for (struct text *name = program.kernels; *kernels; name++) {
        *name = (struct text){kernels, strcspn(kernels, " ")};
        kernels += name->size + (kernels[name->size] == ' ');
        program.request.kernel_count++;
    }
}

/* The two chunks of most fixtures, in either order. */
static const char *const chunk_orders[][2] = {{"0", "1"}, {"1", "0"}};

static void open_program(int number)
{
    bool has_lines = number >= TARGETS;

    open_fixture(programs[number], "whole", chunk_orders[0],
                 has_lines ? "ka kb kc" : "ka kc kd kb");
    program.request.line_count = has_lines ? LINES : 0;
}

/* Makes `count` closing kernels end both chunks' texts. */
static void close_chunks(size_t count)
{
    const struct text names[] = {TEXT("__minilink_closing_0"), TEXT("__minilink_closing_1")};

    memcpy(program.closing, names, count * sizeof *names);
}

/* Joins `count` of the chunks, the second first if they are swapped. */
static bool join(bool is_swapped, size_t count)
{
    struct bytes chunks[] = {buffer_bytes(&program.chunks[is_swapped]),
                             buffer_bytes(&program.chunks[!is_swapped])};

    program.request.chunks = chunks;
    program.request.count = count;
    program.request.kernels = program.kernels;
    program.request.left_out = program.closing;
    program.request.left_out_count =
        (size_t)(program.closing[0].size > 0) + (program.closing[1].size > 0);
    return exact_join(&program.image, &program.request, &program.why);
}

/* The chunks are not joined, for that reason, and nothing is written. */
static void check_refused(const char *what)
{
    ck_assert(!join(false, 2));
    ck_assert_uint_eq(program.image.size, 0);
    if (what)
        ck_assert_str_eq(program.why.what, what);
}

/* The chunks make the whole, byte for byte. */
static void check_joined(bool is_swapped)
{
    ck_assert(join(is_swapped, 2));
    ck_assert_uint_eq(program.image.size, program.whole.size);
    ck_assert_mem_eq(program.image.data, program.whole.data, program.whole.size);
}

/* All of bank 4 is one chunk's: a longer twin in another one is other contents. */
TEST(a_bank_and_its_twin_are_of_one_chunk)
{
    open_fixture("banks-sm_100", "whole", chunk_orders[0], "ka kb kc kd");
    files_header_of(&program.chunks[1], ".nv.merc.nv.constant.pic")->sh_size = 16;
    check_refused(NULL);
}

TEST_LOOP(chunks_become_the_whole, COUNT(programs))
{
    for (int swapped = 0; swapped < 2; swapped++) {
        open_program(_i);
        check_joined(swapped);
    }
}

/* Writes other characters in the place of "$__internal_0_". */
static void rename_internal(struct buffer *file, const char *number)
{
    static const char name[] = "$__internal_0_$";
    char *at = memmem(file->data, file->size, name, strlen(name));

    ck_assert_ptr_nonnull(at);
    memcpy(at + strlen("$__internal_"), number, strlen(number));
    ck_assert_ptr_null(
        memmem(at + 1, file->size - (size_t)(at + 1 - file->data), name, strlen(name)));
}

/* The assembler counts functions of its own through each chunk; what only looks so stays. */
static const struct {
    const char *in_chunk, *in_whole;
} numbers[] = {{"0_", "0_"}, {"7_", "0_"}, {"7x", "7x"}, {"__", "__"}};

TEST_LOOP(functions_of_the_assembler_are_counted_anew, COUNT(numbers))
{
    for (int target = 0; target < TARGETS; target++) {
        open_program(target);
        rename_internal(&program.chunks[0], numbers[_i].in_chunk);
        rename_internal(&program.whole, numbers[_i].in_whole);
        check_joined(false);
    }
}

/* The first place of `word` in the chunk. */
static char *find(const struct buffer *chunk, const char *word, size_t size)
{
    char *at = memmem(chunk->data, chunk->size, word, size);

    ck_assert_ptr_nonnull(at);
    return at;
}

/* Of fixtures/exact/closed.ptx. The kernel that the assembler compiles first has constants of its
 * own and calls no function of the driver, so that bank 4 is another kernel's. */
static void open_closed(const char *fixture, int order)
{
    open_fixture(fixture, "whole", chunk_orders[order], "ka kb kc kw");
    close_chunks(2);
}

TEST_LOOP(closing_kernels_are_left_out, 4)
{
    open_closed(_i % 2 ? "closed-sm_100" : "closed-sm_90", _i / 2);
    check_joined(false);
}

/* Puts the bank's name in the place of ".symtab_shndx", which is as long and names no section. */
static void put_bank_first(struct buffer *file)
{
    static const char bank[] = ".nv.constant4", other[] = ".symtab_shndx";
    uint32_t *place = &files_header_of(file, bank)->sh_name;
    char *names = file->data + files_header_of(file, ".shstrtab")->sh_offset;

    memcpy(names + *place, other, sizeof other);
    *place = (uint32_t)(find(file, other, sizeof other) - names);
    memcpy(names + *place, bank, sizeof bank);
}

/* The same where no kernel stands in front of bank 4, so that its constants stay where they are. */
TEST_LOOP(a_bank_may_stand_in_front_of_all_kernels, 2)
{
    open_closed("closed-sm_100", _i);
    put_bank_first(&program.whole);
    put_bank_first(&program.chunks[0]);
    put_bank_first(&program.chunks[1]);
    check_joined(false);
}

/* Puts the bank's name, with the zeros behind it, behind those of the second closing kernel: it is
 * not the program that brings the bank then, but the first kernel that calls a function. */
static void put_bank_behind(struct buffer *file)
{
    static const char heads[] = ".text.__minilink_closing_1\0.nv.info.__minilink_closing_1\0"
                                ".nv.shared.__minilink_closing_1";
    static const char bank[] = ".nv.constant4\0\0\0";
    uint32_t *place = &files_header_of(file, bank)->sh_name;
    uint32_t *text = &files_header_of(file, heads)->sh_name;
    uint32_t *info = &files_header_of(file, ".nv.info.__minilink_closing_1")->sh_name;
    char *names = file->data + files_header_of(file, ".shstrtab")->sh_offset;

    ck_assert_mem_eq(names + *place, bank, sizeof bank);
    ck_assert_mem_eq(names + *place + sizeof bank, heads, sizeof heads);
    memcpy(names + *place, heads, sizeof heads);
    *text -= (uint32_t)sizeof bank;
    *info -= (uint32_t)sizeof bank;
    *place += (uint32_t)sizeof heads;
    memcpy(names + *place, bank, sizeof bank);
}

/* Whether the names stand in the table in their order. */
static void check_order(struct buffer *file, const char *table, const char *const names[3])
{
    const Elf64_Shdr *section = files_header_of(file, table);
    struct buffer rest = {.data = file->data + section->sh_offset, .size = section->sh_size};

    for (size_t i = 0; i < 3; i++) {
        char *at = find(&rest, names[i], strlen(names[i]) + 1);

        rest.size -= (size_t)(at - rest.data);
        rest.data = at;
    }
}

/* `kb` brings bank 4, and has constants, as the first kernel, `kw`, has. */
TEST_LOOP(a_bank_stands_in_front_of_the_constants_of_its_kernel, 2)
{
    static const char *const sections[] = {".nv.merc.nv.constant.optimizer.kw",
                                           ".nv.merc.nv.constant.pic",
                                           ".nv.merc.nv.constant.optimizer.kb"};
    static const char *const constants[] = {".nv.constant2.kw", ".nv.constant4",
                                            ".nv.constant2.kb"};

    open_closed("closed-sm_100", _i);
    put_bank_behind(&program.chunks[0]);
    put_bank_behind(&program.chunks[1]);
    ck_assert(join(false, 2));
    check_order(&program.image, ".shstrtab", sections);
    check_order(&program.image, ".strtab", constants);
}

/* The last kernel calls all functions of the driver that there are, so that one closing kernel is
 * enough. */
static void open_closed_once(int order)
{
    open_fixture("closed-once", "whole", chunk_orders[order], "ka kb");
    close_chunks(1);
}

TEST_LOOP(one_closing_kernel_is_left_out, 2)
{
    open_closed_once(_i);
    check_joined(false);
}

/* Makes edges of the call graph between `vprintf` (11) and `free` (12): two in the whole, one in
 * each chunk. */
static void let_functions_call(struct buffer *file, bool is_whole, bool is_second)
{
    static const int32_t there[] = {11, 12}, back[] = {12, 11};
    char *edges = file->data + files_header_of(file, ".nv.callgraph")->sh_offset + 8;

    if (is_whole)
        memcpy(edges, back, sizeof back);
    memcpy(edges + 16, is_second ? back : there, sizeof there);
}

/* Where the functions of the driver call each other: edges of no kernel are told apart. */
TEST_LOOP(edges_of_no_kernel_are_all_kept, 2)
{
    open_closed_once(_i);
    let_functions_call(&program.whole, true, false);
    let_functions_call(&program.chunks[_i], false, false);
    let_functions_call(&program.chunks[!_i], false, true);
    check_joined(false);
}

/* Fixtures whose chunks have no closing kernels. */
static const struct {
    const char *fixture, *whole, *chunks[2], *kernels;
} others[] = {
    /* Of fixtures/exact/banks.ptx: the kernel that is compiled first stands in the chunk that has
     * less of bank 4. */
    {"banks-sm_75", "whole", {"0", "1"}, "ka kb kc kd"},
    {"banks-sm_75", "whole", {"1", "0"}, "ka kb kc kd"},
    {"banks-sm_100", "whole", {"0", "1"}, "ka kb kc kd"},
    {"banks-sm_100", "whole", {"1", "0"}, "ka kb kc kd"},
    /* divided.ptx: the functions that the assembler adds are counted through all kernels. */
    {"divided", "whole", {"0", "1"}, "ka kb kc"},
    {"divided", "whole", {"1", "0"}, "ka kb kc"},
    /* letter.ptx, of 13.5: names of one letter. */
    {"letter", "whole", {"0", "1"}, "a b"},
    /* erased.ptx: a symbol is without its name where a kernel has shared memory for good. */
    {"erased", "dead-live", {"dead", "live"}, "dead live"},
    {"erased", "dead-live", {"live", "dead"}, "dead live"},
    {"erased", "dead-none", {"dead", "none"}, "dead none"},
    {"erased", "dead-none", {"none", "dead"}, "dead none"},
};

TEST_LOOP(chunks_of_other_programs_become_the_whole, COUNT(others))
{
    open_fixture(others[_i].fixture, others[_i].whole, others[_i].chunks, others[_i].kernels);
    check_joined(false);
}

static const struct {
    const char *name;
    uint32_t owner;
    bool is_head;
} names[] = {
    {".text.ka", 0, true},
    {".text.kb", 1, true},
    {".text.kc", EXACT_COMMON, false},
    {".text.", EXACT_COMMON, false},
    {".text", EXACT_COMMON, false},
    {".nv.info.kb", 1, true},
    {".nv.info", EXACT_COMMON, false},
    {".nv.shared.ka", 0, true},
    {".nv.local.ka", 0, false},
    {".nv.local.kc", EXACT_COMMON, false},
    {".rela.text.ka", 0, false},
    {".rel.text.kb", 1, false},
    {".nv.merc.text.ka", 0, false},
    {".nv.merc.rela.text.kb", 1, false},
    {".nv.capmerc.text.ka", 0, false},
    {".nv.constant0.kb", 1, false},
    {".nv.constant17.ka", 0, false},
    {".nv.constant.user.ka", 0, false},
    {".nv.constant0", EXACT_COMMON, false},
    {".nv.constant0.kc", EXACT_COMMON, false},
    {".nv.constant", EXACT_COMMON, false},
    {".rela.nv.constant0.kb", 1, false},
    {".nv.callgraph", EXACT_COMMON, false},
    {"ka", EXACT_COMMON, false},
    {".ka", EXACT_COMMON, false},
    {".nv.ka", EXACT_COMMON, false},
    {"", EXACT_COMMON, false},
};

TEST_LOOP(sections_belong_to_the_kernel_that_their_names_end_with, COUNT(names))
{
    struct exact join = {0};
    bool is_head = true;

    table_set(&join.kernel_names, TEXT("ka"), 0);
    table_set(&join.kernel_names, TEXT("kb"), 1);
    ck_assert_uint_eq(exact_name_owner(&join, text_of(names[_i].name), &is_head), names[_i].owner);
    ck_assert_int_eq(is_head, names[_i].is_head);
    table_free(&join.kernel_names);
}

/* Chunks that were not told to keep their lines, and chunks of two texts. */
TEST_RANGE(lines_of_another_text_are_not_joined, TARGETS, COUNT(programs))
{
    open_program(_i);
    program.request.line_count = 0;
    check_refused(NULL);
    program.request.line_count = LINES;
    find(&program.chunks[1], ".address_size", 13)[1]++;
    check_refused(NULL);
}

TEST(a_single_chunk_is_copied)
{
    open_program(0);
    ck_assert(join(false, 1));
    ck_assert_uint_eq(program.image.size, program.chunks[0].size);
    ck_assert_mem_eq(program.image.data, program.chunks[0].data, program.image.size);
}

TEST_LOOP(other_data_differs, TARGETS)
{
    /* What the program's `gv` and `cv` hold. */
    static const char values[][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    static const char *const sections[] = {".nv.global.init", ".nv.constant3"};

    for (int i = 0; i < 2; i++) {
        open_program(_i);
        find(&program.chunks[0], values[i], 4)[1]++;
        check_refused("has other contents in another chunk");
        ck_assert(text_equal(program.why.section, text_of(sections[i])));
    }
}

static Elf64_Sym *symbol_named(struct buffer *file, const char *name)
{
    char *strings = file->data + files_header_of(file, ".strtab")->sh_offset;
    Elf64_Sym *symbol =
        (Elf64_Sym *)(void *)(file->data + files_header_of(file, ".symtab")->sh_offset);

    while (strcmp(strings + symbol->st_name, name) != 0)
        symbol++;
    return symbol;
}

/* A variable that another chunk has not, as it has another name there, in whichever section. */
TEST_LOOP(every_chunk_has_all_variables, TARGETS)
{
    static const char *const sections[] = {".nv.constant3", ".nv.global.init", ".nv.global"};

    for (size_t row = 0; row < COUNT(sections); row++) {
        open_program(_i);
        for (size_t i = 0; i < 2; i++) {
            struct buffer *file = &program.chunks[i];
            const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(const void *)file->data;

            symbol_named(file, "cv")->st_shndx =
                (uint16_t)(files_header_of(file, sections[row]) -
                           (Elf64_Shdr *)(void *)(file->data + elf->e_shoff));
        }
        find(&program.chunks[1], "\0cv", 4)[1] = 'x';
        check_refused("has not all variables");
    }
}

/* What stands in no section is no variable: another chunk may be without it. */
TEST_LOOP(absolute_symbols_may_be_in_one_chunk, TARGETS)
{
    open_program(_i);
    symbol_named(&program.chunks[0], "$ka$f0")->st_shndx = SHN_ABS;
    ck_assert(join(false, 2));
}

/* A chunk of which only the sections up to the notes are left, none of them a symbol table. */
TEST_LOOP(chunks_without_symbols_are_not_joined, TARGETS)
{
    struct buffer *file = &program.chunks[1];

    open_program(_i);
    ((Elf64_Ehdr *)(void *)file->data)->e_shnum = 7;
    files_header_of(file, ".note.nv.cuinfo")->sh_flags = 0;
    files_header_of(file, ".symtab")->sh_type = SHT_PROGBITS;
    files_header_of(file, ".symtab")->sh_entsize = 0;
    check_refused("has no symbols");
    ck_assert_uint_eq(program.why.chunk, 1);
    ck_assert_uint_eq(program.why.section.size, 0);
}

/* Words of such a record may be symbols. */
TEST_LOOP(chunks_with_unknown_records_are_not_joined, TARGETS)
{
    struct buffer *file = &program.chunks[1];

    open_program(_i);
    file->data[files_header_of(file, ".nv.info")->sh_offset + 1] = (char)0xaa;
    check_refused("has records that are not known");
}

/* The first word of a Mercury copy of code is the index of the section that it is a copy of. */
TEST(copies_of_no_section_are_not_joined)
{
    struct buffer *file = &program.chunks[1];
    const Elf64_Shdr *copy;

    open_program(2);
    copy = files_header_of(file, ".nv.capmerc.text.kb");
    *(uint32_t *)(void *)(file->data + copy->sh_offset) =
        ((const Elf64_Ehdr *)(const void *)file->data)->e_shnum;
    check_refused("is the copy of no section");
}

/* A name of no section behind that of the prototypes. */
TEST(names_that_are_made_late_are_those_of_sections)
{
    static const char late[] = ".nv.prototype\0x";

    open_program(0);
    for (int i = 0; i < 2; i++)
        memcpy(find(&program.chunks[i], ".rela.debug_frame", 18), late, sizeof late);
    check_refused("has names in another order");
}

static enum link_code run_sections(void *join)
{
    exact_join_sections(join);
    return LINK_OK;
}

/* ELF has 16 bits for a section's index, of which it takes some values for itself. */
TEST(a_program_has_as_many_sections_as_elf_can_number)
{
    static const struct exact_form form;

    for (uint32_t count = SHN_LORESERVE - 1; count <= SHN_LORESERVE; count++) {
        struct exact_join_difference why = {0};
        struct exact_input input = {.cubin.section_count = count};
        struct exact join = {
            .inputs = &input, .count = 1, .why = &why, .form = &form, .order = {CLASS_TEXT}};

        input.cubin.sections = arena_zalloc(&join.arena, count, sizeof *input.cubin.sections);
        input.cubin.sections[1].name = TEXT(".shstrtab");
        input.section_owner = arena_zalloc(&join.arena, count, sizeof *input.section_owner);
        input.section_class = arena_zalloc(&join.arena, count, 1);
        input.section_out = arena_zalloc(&join.arena, count, sizeof *input.section_out);
        memset(input.section_class, CLASS_TEXT, count);
        for (uint32_t i = 1; i < count; i++)
            exact_push(&join, &join.section_names,
                       &(struct exact_item){.input = &input, .index = i});
        ck_assert_int_eq(context_run(run_sections, &join) == LINK_OK, count < SHN_LORESERVE);
        ck_assert_int_eq(why.what != NULL, count == SHN_LORESERVE);
        ck_assert_uint_eq(why.chunk, 0);
        ck_assert_uint_eq(why.section.size, 0);
        table_free(&join.seen);
        image_free(&join.image);
        arena_free(&join.arena);
    }
}

/* The value of a record of .nv.compat, of one byte or two. */
static unsigned char *compat_value(const struct buffer *file, uint8_t number)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(const void *)file->data;
    const Elf64_Shdr *headers = (const Elf64_Shdr *)(const void *)(file->data + elf->e_shoff);
    struct bytes rest = {0};
    struct info_record record;

    for (size_t i = 1; i < elf->e_shnum; i++)
        if (headers[i].sh_type == SHT_CUDA_COMPAT)
            rest = (struct bytes){(const uint8_t *)file->data + headers[i].sh_offset,
                                  headers[i].sh_size};
    while (info_next(&rest, &record))
        if (record.attribute == number)
            return (unsigned char *)(uintptr_t)rest.data - 2;
    ck_abort_msg("no record");
}

#define INST_TENSORMAP_V1 0x03

/* Whichever chunk has the most of a value, in either byte of it; sm_75 has none. */
TEST_RANGE(compatibility_is_the_most_of_all_chunks, 1, TARGETS)
{
    for (int i = 0; i < 8; i++) {
        unsigned char *value;

        open_program(_i);
        value = compat_value(&program.chunks[i % 2], COMPAT_CUDA_ACCELERATOR_TARGET);
        value[i / 2 % 2] = (unsigned char)(value[i / 2 % 2] + 1);
        ck_assert(join(i / 4, 2));
        ck_assert_mem_eq(compat_value(&program.image, COMPAT_CUDA_ACCELERATOR_TARGET), value, 2);
    }
}

/* A kernel with cp.async.bulk.tensor has 1, one with tensormap.replace 2; a program of both has 3
 * (ptxas 13.0 and 13.5, sm_90a and sm_100a). */
TEST_RANGE(compatibility_has_the_bits_of_all_chunks, 1, TARGETS)
{
    for (int i = 0; i < 4; i++) {
        open_program(_i);
        *compat_value(&program.chunks[i % 2], INST_TENSORMAP_V1) = 1;
        *compat_value(&program.chunks[1 - i % 2], INST_TENSORMAP_V1) = 2;
        ck_assert(join(i / 2, 2));
        ck_assert_uint_eq(*compat_value(&program.image, INST_TENSORMAP_V1), 3);
    }
}

/* How values of a record that is not known become one is not known, and no program says one twice.
 */
TEST_RANGE(records_of_compatibility_that_are_not_understood_are_not_joined, 1, TARGETS)
{
    for (int i = 0; i < 2; i++) {
        open_program(_i);
        for (int c = 0; c < 2; c++) {
            unsigned char *value = compat_value(&program.chunks[c], INST_TENSORMAP_V1);

            value[-1] = i ? COMPAT_CUDA_ACCELERATOR_TARGET : 0x77;
            value[0] = (unsigned char)(i ? 0 : c);
        }
        check_refused(i ? "has a record twice, or not all of another chunk"
                        : "has records that are not known");
    }
}

TEST_LOOP(every_kernel_is_in_one_chunk, COUNT(programs))
{
    struct buffer kept;

    open_program(_i);
    kept = program.chunks[1];
    program.chunks[1] = program.chunks[0];
    check_refused(NULL);
    program.chunks[1] = program.whole;
    check_refused(NULL);
    program.chunks[1] = kept;
}

TEST_LOOP(cut_chunks_are_damaged, COUNT(programs))
{
    open_program(_i);
    for (size_t size = program.chunks[0].size; size > 64; size -= size / 16) {
        program.chunks[0].size = size - 1;
        check_refused(NULL);
    }
}
