/* Joining chunks: the result does not show how the program was cut. What the recorded chunks
 * become, whole or with one damaged byte, the golden damage-join holds; the changes here are
 * others. */

#include "diag/diag.h"
#include "join/join.h"
#include "unit/cubin/cubin_image.h"
#include "files.h"
#include "suite.h"

#define MOST 4

/* The program of fixtures/cubin/program.ptx: `counter` and `helper` are promoted in the chunks. */
static const struct chunk_symbol split_symbols[] = {
    {{"counter$p", 9}, {"counter", 7}, CHUNK_LOCAL, false, false, 4},
    {{"table", 5}, {"table", 5}, CHUNK_GLOBAL, false, false, 8},
    {{"pointer", 7}, {"pointer", 7}, CHUNK_GLOBAL, false, false, 8},
    {{"buffer", 6}, {"buffer", 6}, CHUNK_GLOBAL, false, false, 16},
    {{"tile", 4}, {"tile", 4}, CHUNK_LOCAL, false, false, 8},
    {{"small", 5}, {"small", 5}, CHUNK_LOCAL, true, false, 0},
    {{"helper$p", 8}, {"helper", 6}, CHUNK_LOCAL, true, false, 0},
    {{"shown", 5}, {"shown", 5}, CHUNK_GLOBAL, true, false, 0},
    {{"k1", 2}, {"k1", 2}, CHUNK_GLOBAL, true, false, 0},
    {{"k2", 2}, {"k2", 2}, CHUNK_GLOBAL, true, false, 0},
};
#define SYMBOLS (sizeof split_symbols / sizeof *split_symbols)

/* The cubins of one test, read, and what they were joined to. */
static struct {
    struct buffer files[MOST];
    struct cubin cubins[MOST];
    size_t count;
    struct chunk_symbol symbols[SYMBOLS];
    struct cubin joined;
    struct diag_sink sink;
    struct buffer bytes; /* see write_joined() */
    bool keeps_data;
} joining;

void set_up(void)
{
    memset(&joining, 0, sizeof joining);
    memcpy(joining.symbols, split_symbols, sizeof split_symbols);
}

void tear_down(void)
{
    for (size_t i = 0; i < joining.count; i++) {
        cubin_free(&joining.cubins[i]);
        buffer_free(&joining.files[i]);
    }
    cubin_free(&joining.joined);
    diag_sink_free(&joining.sink);
    buffer_free(&joining.bytes);
}

static void add(const char *path)
{
    joining.files[joining.count++] = files_load(path);
}

/* Reads what was added and joins it. */
static bool join_all(void)
{
    const struct cubin *list[MOST];
    bool ok;

    for (size_t i = 0; i < joining.count; i++) {
        ck_assert(cubin_read(&joining.cubins[i], "chunk", buffer_bytes(&joining.files[i])));
        list[i] = &joining.cubins[i];
    }
    diag_state_get()->sink = &joining.sink;
    ok = join_cubins(&joining.joined, list, joining.count, joining.symbols, SYMBOLS,
                     joining.keeps_data);
    diag_state_get()->sink = NULL;
    return ok;
}

/* Makes the joined cubin a file, which reads well again. */
static void write_joined(void)
{
    OWNED(image) image;
    OWNED(cubin) again;

    ck_assert(cubin_image(&image, &joining.joined));
    image_bytes(&image, &joining.bytes);
    ck_assert(cubin_read(&again, "joined", buffer_bytes(&joining.bytes)));
    ck_assert_uint_eq(again.symbol_count, joining.joined.symbol_count);
    ck_assert_uint_eq(again.section_count, joining.joined.section_count);
}

static const struct cubin_symbol *symbol_of(const char *name)
{
    const struct cubin_symbol *found = NULL;

    for (size_t i = 1; i < joining.joined.symbol_count; i++) {
        const struct cubin_symbol *symbol = &joining.joined.symbols[i];

        if (symbol->type != STT_SECTION && text_equal(symbol->name, text_of(name))) {
            ck_assert_msg(!found, "%s twice", name);
            found = symbol;
        }
    }
    return found;
}

static size_t count_sections(const char *name)
{
    size_t count = 0;

    for (size_t i = 1; i < joining.joined.section_count; i++)
        count += text_equal(joining.joined.sections[i].name, text_of(name));
    return count;
}

static const struct {
    const char *whole;
    const char *chunk0;
    const char *chunk1;
} programs[] = {
    {"fixtures/cubin/program.sm_90.cubin", "fixtures/cubin/chunk0.sm_90.cubin",
     "fixtures/cubin/chunk1.sm_90.cubin"},
    {"fixtures/cubin/program.sm_75.cubin", "fixtures/cubin/chunk0.sm_75.cubin",
     "fixtures/cubin/chunk1.sm_75.cubin"},
    {"fixtures/cubin/program.sm_100.cubin", "fixtures/cubin/chunk0.sm_100.cubin",
     "fixtures/cubin/chunk1.sm_100.cubin"},
};
#define PROGRAMS (sizeof programs / sizeof *programs)
#define SM_75    1
#define MERCURY  2

/* Begins anew, with the chunks of a program. */
static void begin_chunks(int program)
{
    tear_down();
    set_up();
    add(programs[program].chunk0);
    add(programs[program].chunk1);
}

/* Joins the chunks of a program as they are. */
static void join_program(int program)
{
    begin_chunks(program);
    ck_assert(join_all());
}

/* What is joined now has the same bytes as what was joined before. */
static void check_same_bytes(bool (*join_again)(int program), int program)
{
    OWNED(buffer) before;

    write_joined();
    before = joining.bytes;
    joining.bytes = (struct buffer){0};
    tear_down();
    set_up();
    ck_assert(join_again(program));
    write_joined();
    ck_assert_uint_eq(before.size, joining.bytes.size);
    ck_assert_mem_eq(before.data, joining.bytes.data, before.size);
}

/* The whole program's cubin was not split: nothing has another name in it. */
static bool join_whole(int program)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        joining.symbols[i].name = joining.symbols[i].own_name;
    add(programs[program].whole);
    return join_all();
}

static bool join_backwards(int program)
{
    add(programs[program].chunk1);
    add(programs[program].chunk0);
    return join_all();
}

TEST_LOOP(one_chunk_and_two_give_the_same_bytes, PROGRAMS)
{
    join_program(_i);
    check_same_bytes(join_whole, _i);
}

TEST_LOOP(chunk_order_does_not_matter, PROGRAMS)
{
    join_program(_i);
    check_same_bytes(join_backwards, _i);
}

/* The header of a section of a chunk, to change it; all that follows is of chunk `chunk`. */
static Elf64_Shdr *header_in(size_t chunk, const char *name)
{
    return files_header_of(&joining.files[chunk], name);
}

/* The bytes of a section. */
static char *bytes_in(size_t chunk, const char *name)
{
    return joining.files[chunk].data + header_in(chunk, name)->sh_offset;
}

/* The number of a symbol. */
static uint32_t symbol_in(size_t chunk, const char *name)
{
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)bytes_in(chunk, ".symtab");

    for (uint32_t i = 1; i < header_in(chunk, ".symtab")->sh_size / sizeof *symbols; i++)
        if (strcmp(bytes_in(chunk, ".strtab") + symbols[i].st_name, name) == 0)
            return i;
    ck_abort_msg("no symbol %s", name);
}

/* The same symbol, to change it. */
static Elf64_Sym *record_in(size_t chunk, const char *name)
{
    return (Elf64_Sym *)(void *)bytes_in(chunk, ".symtab") + symbol_in(chunk, name);
}

/* Makes a symbol local. */
static Elf64_Sym *localize(size_t chunk, const char *name)
{
    Elf64_Sym *symbol = record_in(chunk, name);

    symbol->st_info = ELF64_ST_INFO(STB_LOCAL, ELF64_ST_TYPE(symbol->st_info));
    return symbol;
}

/* The number of a section. */
static uint16_t section_in(size_t chunk, const char *name)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(void *)joining.files[chunk].data;

    return (uint16_t)(header_in(chunk, name) -
                      (Elf64_Shdr *)(void *)(joining.files[chunk].data + elf->e_shoff));
}

/* Gives a section another name, which is no longer. */
static void rename_section(size_t chunk, const char *name, const char *new_name)
{
    strcpy(bytes_in(chunk, ".shstrtab") + header_in(chunk, name)->sh_name, new_name);
}

/* The relocations of a section. */
static Elf64_Rela *relocations_in(size_t chunk, const char *name)
{
    return (Elf64_Rela *)(void *)bytes_in(chunk, name);
}

/* Makes a relocation one against another symbol. */
static void point_at(size_t chunk, Elf64_Rela *relocation, const char *name)
{
    relocation->r_info =
        ELF64_R_INFO((uint64_t)symbol_in(chunk, name), ELF64_R_TYPE(relocation->r_info));
}

/* Takes a symbol off the list. */
static void unlist(const char *name)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        if (text_equal(joining.symbols[i].name, text_of(name)))
            joining.symbols[i].name = TEXT("?");
}

static size_t count_symbols(const char *name)
{
    size_t count = 0;

    for (size_t i = 1; i < joining.joined.symbol_count; i++)
        count += joining.joined.symbols[i].type == STT_FUNC &&
                 text_equal(joining.joined.symbols[i].name, text_of(name));
    return count;
}

/* Of one chunk: ptxas has put the variables by alignment and size. */
TEST_LOOP(variables_of_the_only_chunk_may_stay_where_they_are, PROGRAMS)
{
    const struct cubin *source = &joining.cubins[0];
    size_t compared = 0;

    add(programs[_i].whole);
    joining.keeps_data = true;
    ck_assert(join_all());
    for (size_t i = 1; i < source->symbol_count; i++) {
        const struct cubin_symbol *from = &source->symbols[i];
        const struct cubin_symbol *to;

        if (from->type == STT_SECTION || from->section >= source->section_count ||
            (source->sections[from->section].type != SHT_CUDA_GLOBAL &&
             source->sections[from->section].type != SHT_CUDA_GLOBAL_INIT &&
             source->sections[from->section].type != SHT_CUDA_CONSTANT0 + 3))
            continue;
        for (size_t k = 1; k < joining.joined.symbol_count; k++) {
            to = &joining.joined.symbols[k];
            if (text_equal(to->name, from->name) && to->type == from->type) {
                ck_assert_uint_eq(to->value, from->value);
                compared++;
            }
        }
    }
    ck_assert_uint_gt(compared, 0);
    write_joined();
}

/* Two functions of one name; each caller keeps its own. */
TEST_LOOP(different_copies_stay_apart, PROGRAMS)
{
    begin_chunks(_i);
    *bytes_in(1, ".text.small") ^= 1;
    ck_assert(join_all());
    ck_assert_uint_eq(count_sections(".text.small"), 2);
    ck_assert_uint_eq(count_symbols("small"), 2);
    ck_assert_uint_eq(count_sections(".text.__cuda_sm20_div_u64"), 1);
    write_joined();
}

/* What refers to different copies is different too. */
TEST_LOOP(callers_of_different_copies_stay_apart, PROGRAMS)
{
    begin_chunks(_i);
    *bytes_in(0, ".text.__cuda_sm20_div_u64") ^= 1;
    ck_assert(join_all());
    ck_assert_uint_eq(count_symbols("__cuda_sm20_div_u64"), 2);
    ck_assert_uint_eq(count_symbols("small"), 2);
}

/* `small` of each chunk is made to name that chunk's own `tile`: the copies are the same as long as
 * these objects are, and not when one has another size, kind or type. */
TEST_LOOP(copies_that_name_different_objects_stay_apart, PROGRAMS)
{
    static const Elf64_Sym changes[] = {{0}, {.st_size = 1}, {.st_other = 2}, {.st_info = 1}};

    for (size_t row = 0; row < COUNT(changes); row++) {
        begin_chunks(_i);
        unlist("tile");
        for (size_t i = 0; i < 2; i++) {
            Elf64_Sym *symbol = localize(i, "tile");

            point_at(i, relocations_in(i, _i == 1 ? ".rel.text.small" : ".rela.text.small"),
                     "tile");
            if (i == 1) {
                symbol->st_size -= changes[row].st_size;
                symbol->st_other ^= changes[row].st_other;
                symbol->st_info ^= changes[row].st_info;
            }
        }
        ck_assert(join_all());
        ck_assert_uint_eq(count_symbols("small"), row == 0 ? 1 : 2);
    }
}

/* An object that is named after a function, up to a '$', has the function's own name in it. */
TEST(objects_of_a_function_are_named_after_it)
{
    static const struct {
        const char *in_chunk, *listed, *own, *joined;
    } rows[] = {{"t$le", "t", "task", "task$le"}, {"$$le", "$", "task", "task$le"},
                {"$$$e", "$$", "task", "task$e"}, {"til$", "til", "task", "task$"},
                {"t$le", "t", "t", "t$le"},       {"t$le", "le", "task", "t$le"},
                {"tile", "til", "task", "tile"}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        begin_chunks(0);
        for (size_t i = 0; i < 2; i++)
            memcpy(bytes_in(i, ".strtab") + record_in(i, "tile")->st_name, rows[row].in_chunk, 4);
        for (size_t i = 0; i < SYMBOLS; i++)
            if (text_equal(joining.symbols[i].name, TEXT("tile"))) {
                joining.symbols[i].name = text_of(rows[row].listed);
                joining.symbols[i].own_name = text_of(rows[row].own);
            }
        ck_assert(join_all());
        ck_assert_ptr_nonnull(symbol_of(rows[row].joined));
    }
}

/* The same where `tile` has bytes: those of a section that both chunks have. */
TEST(copies_that_name_objects_with_other_bytes_stay_apart)
{
    for (size_t change = 0; change < 3; change++) {
        begin_chunks(0);
        unlist("tile");
        for (size_t i = 0; i < 2; i++) {
            Elf64_Sym *symbol = localize(i, "tile");

            symbol->st_shndx = section_in(i, ".note.nv.tkinfo");
            symbol->st_value = 8;
            symbol->st_size = 4;
            point_at(i, relocations_in(i, ".rela.text.small"), "tile");
            if (i == 1 && change > 0)
                bytes_in(i, ".note.nv.tkinfo")[change == 1 ? 11 : 12] ^= 1;
        }
        ck_assert(join_all());
        ck_assert_uint_eq(count_symbols("small"), change == 1 ? 2 : 1);
    }
}

/* `small` of each chunk is made to name a section. The copies are the same if that is one of their
 * own. */
TEST(copies_that_name_other_sections_stay_apart)
{
    static const struct {
        const char *names[2];
        size_t copies;
    } rows[] = {{{".text.small", ".text.small"}, 1},
                {{".text.small", ".text.k2"}, 2},
                {{".text.k1", ".text.small"}, 2},
                {{".nv_debug.shared", ".nv_debug.shared"}, 2}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        begin_chunks(0);
        for (size_t i = 0; i < 2; i++)
            point_at(i, relocations_in(i, ".rela.text.small"), rows[row].names[i]);
        ck_assert(join_all());
        ck_assert_uint_eq(count_symbols("small"), rows[row].copies);
    }
}

/* `tile` is made an object in the code of `small`, and `k1` names it before it calls `small`: the
 * code is still that of `small`. */
TEST(code_belongs_to_its_function_and_to_no_object)
{
    add(programs[0].chunk0);
    unlist("tile");
    unlist("small");
    localize(0, "tile")->st_shndx = section_in(0, ".text.small");
    relocations_in(0, ".rela.text.k1")[1].r_offset = 0;
    ck_assert(join_all());
    write_joined();
}

/* `small` of the second chunk is not kept, but another name for it is. */
TEST(code_is_kept_for_another_name)
{
    Elf64_Sym *alias;

    begin_chunks(0);
    unlist("tile");
    for (size_t i = 0; i < 2; i++)
        record_in(i, "small")->st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
    alias = record_in(1, "tile");
    *alias = (Elf64_Sym){.st_name = alias->st_name,
                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                         .st_shndx = section_in(1, ".text.small")};
    ck_assert(join_all());
    ck_assert_uint_eq(count_sections(".text.small"), 2);
    ck_assert_uint_eq(count_symbols("tile"), 1);
}

/* Parameters that refer to textures have one name in two kernels, even a listed one. */
TEST(parameters_of_two_kernels_stay_apart)
{
    static const char *const sections[] = {".nv.constant0.k1", ".nv.constant0.k2"};
    size_t count = 0;

    begin_chunks(0);
    for (size_t i = 0; i < 2; i++) {
        Elf64_Sym *tile = record_in(i, "tile");

        tile->st_info = ELF64_ST_INFO(STB_LOCAL, STT_CUDA_TEXTURE);
        tile->st_shndx = section_in(i, sections[i]);
    }
    ck_assert(join_all());
    for (size_t i = 1; i < joining.joined.symbol_count; i++)
        count += joining.joined.symbols[i].type == STT_CUDA_TEXTURE;
    ck_assert_uint_eq(count, 2);
}

static const struct cubin_section *section_named(const char *name)
{
    uint32_t section = cubin_section_find(&joining.joined, text_of(name));

    ck_assert_msg(section != 0, "%s is not there", name);
    return &joining.joined.sections[section];
}

/* How many of the symbols no chunk defines. */
static size_t left(const char *words)
{
    size_t count = 0;

    for (; *words; words++)
        count += *words != 'h';
    return count;
}

/* What records say of symbols that are defined elsewhere: which of them are so in the whole program
 * counts, in their order. */
TEST(copies_name_what_no_chunk_defines)
{
    static const struct {
        const char *words[2];
        size_t copies;
    } rows[] = {{{"uhhhd", "uhdhh"}, 1}, {{"hhhhh", "hhhhh"}, 1}, {{"uhhhd", "dhhhu"}, 2},
                {{"udhhh", "uhhhh"}, 2}, {{"uhhhh", "udhhh"}, 2}, {{"hhhhh", "hhuhh"}, 2}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        begin_chunks(0);
        for (size_t i = 0; i < 2; i++) {
            char *record = bytes_in(i, ".nv.info.small");

            memcpy(record, (const char[]){EIFMT_SVAL, EIATTR_EXTERNS, 20, 0}, 4);
            for (size_t k = 0; k < 5; k++) {
                char word = rows[row].words[i][k];
                uint32_t symbol = symbol_in(i, word == 'u'   ? "__UFT"
                                               : word == 'd' ? "__UDT"
                                                             : "helper$p");

                memcpy(record + 4 + 4 * k, &symbol, sizeof symbol);
            }
        }
        ck_assert(join_all());
        ck_assert_uint_eq(count_symbols("small"), rows[row].copies);
        /* The symbols that are left in the first copy's record. */
        ck_assert_uint_eq(section_named(".nv.info.small")->size,
                          left(rows[row].words[0]) ? 4 + 4 * left(rows[row].words[0]) : 0);
    }
}

TEST_LOOP(two_definitions_are_an_error, PROGRAMS)
{
    begin_chunks(_i);
    add(programs[_i].chunk1);
    ck_assert(!join_all());
    buffer_char(&joining.sink.text, '\0');
    ck_assert_ptr_nonnull(strstr(joining.sink.text.data, "Multiple definition of 'k2'"));
}

TEST(targets_must_agree)
{
    add(programs[0].chunk0);
    add(programs[1].chunk1);
    ck_assert(!join_all());
    ck_assert_uint_eq(joining.sink.errors, 1);
}

TEST(executables_are_not_joined)
{
    add("fixtures/cubin/linked.sm_90.cubin");
    ck_assert(!join_all());
}

/* Without any list the cubin stays complete. */
TEST_LOOP(a_cubin_without_a_list_is_kept, PROGRAMS)
{
    for (size_t i = 0; i < SYMBOLS; i++)
        joining.symbols[i].name = TEXT("?");
    add(programs[_i].whole);
    ck_assert(join_all());
    ck_assert_uint_eq(count_symbols("k1") + count_symbols("k2"), 2);
    ck_assert_uint_eq(joining.cubins[0].section_count, joining.joined.section_count);
    write_joined();
}

/* What belongs to no function stands in the order in which ptxas has written it, since symbols of
 * sections do in what is linked of it. */
TEST_LOOP(sections_of_the_program_stay_in_their_order, PROGRAMS)
{
    uint32_t last = 0;

    add(programs[_i].whole);
    ck_assert(join_all());
    for (size_t i = 1; i < joining.cubins[0].section_count; i++) {
        const struct cubin_section *section = &joining.cubins[0].sections[i];
        uint32_t joined = cubin_section_find(&joining.joined, section->name);

        if (((section->flags & SHF_INFO_LINK) && section->type != SHT_NOTE) ||
            section->type == SHT_REL || section->type == SHT_RELA ||
            section->type == SHT_CUDA_SHARED || cubin_is_text(section) || cubin_is_mercury(section))
            continue;
        ck_assert_uint_lt(last, joined);
        last = joined;
    }
    ck_assert_uint_gt(last, 4);
}

/* The relocation of a section's bytes at an offset; *kind says in which list it is. */
static const struct cubin_relocation *relocation_at(const char *name, uint64_t offset,
                                                    const char **kind)
{
    static const char *const kinds[] = {".rel", ".rela"};

    for (size_t k = 0; k < COUNT(kinds); k++) {
        uint32_t section;

        section = cubin_section_find(&joining.joined, text_of(suite_print("%s%s", kinds[k], name)));
        for (size_t i = 0; section && i < joining.joined.sections[section].relocation_count; i++) {
            *kind = kinds[k];
            if (joining.joined.sections[section].relocations[i].offset == offset)
                return &joining.joined.sections[section].relocations[i];
        }
    }
    ck_abort_msg("no relocation of %s", name);
}

/* `pointer` names a variable by its section's symbol: `counter`, which moves from 8 to 0, or
 * itself, which moves from 0 to 8. Where the address was in the field, it leaves it, unless it is
 * 0. */
TEST_LOOP(addresses_by_a_section_follow_the_variable, PROGRAMS)
{
    static const uint64_t moves[][2] = {{8, 0}, {0, 8}};
    bool is_in_place = _i == SM_75;

    for (size_t row = 0; row < COUNT(moves); row++) {
        uint64_t field = is_in_place ? moves[row][0] : 0x1234, left;
        const struct cubin_relocation *moved;
        const struct cubin_section *data;
        const char *kind = "";
        Elf64_Rela *list;

        begin_chunks(_i);
        list = relocations_in(0, is_in_place ? ".rel.nv.global.init" : ".rela.nv.global.init");
        list->r_info = ELF64_R_INFO((uint64_t)symbol_in(0, ".nv.global.init"), R_CUDA_64);
        if (!is_in_place)
            list->r_addend = (int64_t)moves[row][0];
        memcpy(bytes_in(0, ".nv.global.init"), &field, sizeof field);
        ck_assert(join_all());
        moved = relocation_at(".nv.global.init", 8, &kind);
        data = section_named(".nv.global.init");
        memcpy(&left, data->data.data + 8, sizeof left);
        ck_assert_uint_eq(joining.joined.symbols[moved->symbol].type, STT_SECTION);
        ck_assert_int_eq(moved->addend, (int64_t)moves[row][1]);
        ck_assert_str_eq(kind, is_in_place && moves[row][1] == 0 ? ".rel" : ".rela");
        ck_assert_uint_eq(left, is_in_place ? 0 : field);
    }
}

/* So does code; in a section that stays as it is, nothing moves. One stays as it is, too, when an
 * address is none of a variable. */
TEST(code_that_names_a_section_follows_the_variable)
{
    static const struct {
        const char *section;
        int64_t addend, wanted;
        uint64_t counter;
    } rows[] = {{".nv.global.init", 8, 0, 0},
                {".nv.global.init", 0, 8, 0},
                {".nv.global.init", 100, 100, 8},
                {".text.small", 0x90, 0x90, 0},
                {".nv_debug.shared", 4, 4, 0}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        const char *kind = "";
        Elf64_Rela *list;

        begin_chunks(0);
        list = relocations_in(0, ".rela.text.k1");
        point_at(0, list, rows[row].section);
        list->r_addend = rows[row].addend;
        ck_assert(join_all());
        ck_assert_int_eq(relocation_at(".text.k1", list->r_offset, &kind)->addend,
                         rows[row].wanted);
        ck_assert_uint_eq(symbol_of("counter")->value, rows[row].counter);
    }
}

/* Of two variables at one place, an address there is the greater one's. Here those of
 * another chunk are kept, whose `k1` is the `k3` of this one. */
TEST(addresses_follow_the_greater_variable)
{
    const char *kind = "";
    Elf64_Rela *list;

    add(programs[0].chunk0);
    add(programs[0].chunk0);
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = {"counter$p", "table", "pointer"};

        for (size_t k = 0; k < COUNT(names); k++) {
            Elf64_Sym *symbol = record_in(i, names[k]);

            symbol->st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol->st_info));
        }
    }
    bytes_in(1, ".strtab")[record_in(1, "k1")->st_name + 1] = '3';
    record_in(1, "counter$p")->st_value = 0;
    memset(bytes_in(1, ".nv.global.init") + 8, 0, 4);
    list = relocations_in(1, ".rela.text.k1");
    point_at(1, list, ".nv.global.init");
    list->r_addend = 0;
    rename_section(1, ".rela.text.k1", ".rela.text.k3");
    rename_section(1, ".text.k1", ".text.k3");
    rename_section(1, ".nv.info.k1", ".nv.info.k3");
    rename_section(1, ".nv.constant0.k1", ".nv.constant0.k3");
    ck_assert(join_all());
    ck_assert_int_eq(relocation_at(".text.k3", list->r_offset, &kind)->addend,
                     (int64_t)symbol_of("pointer")->value);
}

/* An absolute symbol stays absolute, also where another chunk has code of that name. One of a
 * section names none then, and nothing can refer to it. */
TEST(absolute_symbols_stand_in_no_section)
{
    begin_chunks(0);
    point_at(0, relocations_in(0, ".rela.text.k1"), ".note.nv.tkinfo");
    record_in(0, "helper$p")->st_shndx = SHN_ABS;
    record_in(1, "helper$p")->st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
    record_in(0, "tile")->st_shndx = SHN_ABS;
    record_in(0, ".note.nv.tkinfo")->st_shndx = SHN_ABS;
    ck_assert(join_all());
    ck_assert_uint_eq(symbol_of("helper")->section, SECTION_ABSOLUTE);
    ck_assert_uint_eq(symbol_of("tile")->section, SECTION_ABSOLUTE);
    ck_assert_uint_eq(section_named(".rela.text.k1")->relocation_count,
                      header_in(0, ".rela.text.k1")->sh_size / sizeof(Elf64_Rela) - 1);
    write_joined();
}

/* Relocations stand from behind to the front; those of one place by their types, then by their
 * symbols, whatever the order was. */
TEST(relocations_of_united_sections_have_an_order)
{
    static const struct {
        uint32_t type;
        const char *name;
    } wanted[] = {{R_CUDA_64, "__cuda_sm20_div_u64"},
                  {R_CUDA_64, "small"},
                  {R_CUDA_64, "k1"},
                  {R_CUDA_UNUSED_CLEAR64, "__cuda_sm20_div_u64"}};
    static const int shuffled[] = {2, 0, 1, 3};
    const struct cubin_section *frames;
    Elf64_Rela *list;
    size_t found = 0;

    begin_chunks(0);
    list = relocations_in(0, ".rela.debug_frame");
    for (size_t i = 0; i < COUNT(wanted); i++) {
        uint32_t symbol = symbol_in(0, wanted[shuffled[i]].name);

        list[i] = (Elf64_Rela){0x144, ELF64_R_INFO((uint64_t)symbol, wanted[shuffled[i]].type), 0};
    }
    ck_assert(join_all());
    frames = section_named(".rela.debug_frame");
    for (size_t i = 1; i < frames->relocation_count; i++) {
        const struct cubin_relocation *r = &frames->relocations[i];

        ck_assert_uint_le(r->offset, r[-1].offset);
        if (i + 1 < COUNT(wanted) || r->offset != r[1 - (int)COUNT(wanted)].offset)
            continue;
        for (size_t k = 0; k < COUNT(wanted); k++, found++) {
            const struct cubin_relocation *one = r + 1 + k - COUNT(wanted);

            ck_assert_uint_eq(one->type, wanted[k].type);
            ck_assert(
                text_equal(joining.joined.symbols[one->symbol].name, text_of(wanted[k].name)));
        }
    }
    ck_assert_uint_eq(found, COUNT(wanted));
}

/* Of what chunks say of their compatibility, the greatest number counts, whichever says it, and of
 * eight bytes those bits that both have, also where the other's are only four. */
TEST(the_greatest_compatibility_counts)
{
    static const size_t number = 0xa, bytes = 0x1c;

    for (size_t row = 0; row < 4; row++) {
        size_t greater = row % 2;
        bool is_longer = row / 2 > 0;
        const struct cubin_section *compat;

        begin_chunks(0);
        for (size_t i = 0; i < 2; i++) {
            bytes_in(i, ".nv.compat")[number] = i == greater ? 9 : 6;
            bytes_in(i, ".nv.compat")[bytes] = i == greater ? 0xd : 6;
            if (i == greater || !is_longer)
                continue;
            memcpy(bytes_in(i, ".nv.compat") + bytes - 2, (const char[]){4, 0}, 2);
            memcpy(bytes_in(i, ".nv.compat") + bytes + 4, (const char[]){EIFMT_BVAL, 0x77, 0, 0},
                   4);
        }
        ck_assert(join_all());
        compat = section_named(".nv.compat");
        ck_assert_uint_eq(compat->data.data[number], 9);
        ck_assert_uint_eq(compat->data.data[bytes - 2], 8);
        ck_assert_uint_eq(compat->data.data[bytes], 4);
    }
}

/* A frame that names a section and no function is nobody's: frames follow each other, uncut. */
TEST(frames_of_no_function_are_kept)
{
    uint64_t size = 0;

    begin_chunks(0);
    for (size_t i = 0; i < 2; i++)
        size += header_in(i, ".debug_frame")->sh_size;
    ck_assert(join_all());
    ck_assert_uint_lt(section_named(".debug_frame")->size, size);
    begin_chunks(0);
    for (size_t i = 0; i < 9; i++) {
        Elf64_Rela *record = relocations_in(0, ".rela.debug_frame") + i;

        if (ELF64_R_SYM(record->r_info) == symbol_in(0, "small"))
            point_at(0, record, ".text.small");
    }
    ck_assert(join_all());
    ck_assert_uint_eq(section_named(".debug_frame")->size, size);
}

/* Line tables of one unit for each function stand in program order, with those of one copy only.
 * Where a unit does not end with its section, they are kept as they are. */
TEST(units_of_line_tables_follow_their_functions)
{
    static const char *const names[][2] = {{"k1", "small"}, {"k2", "small"}};
    static const char marks[] = "aBcD"; /* of the units, in chunk order */
    static const struct {
        uint32_t length; /* of the last unit */
        const char *marks;
    } rows[] = {{12, "Bac"}, {13, "aBcD"}, {11, "aBcD"}, {UINT32_MAX, "aBcD"}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        const struct cubin_section *lines;

        begin_chunks(0);
        for (size_t i = 0; i < 2; i++) {
            Elf64_Rela *list = relocations_in(i, ".rela.debug_frame");
            char *at = bytes_in(i, ".debug_frame");

            header_in(i, ".rela.debug_frame")->sh_size = 2 * sizeof *list;
            header_in(i, ".debug_frame")->sh_size = 32;
            for (size_t k = 0; k < 2; k++) {
                uint32_t unit[4] = {i + k < 2 ? 12 : rows[row].length, (uint32_t)marks[2 * i + k]};

                memcpy(at + 16 * k, unit, sizeof unit);
                list[k] = (Elf64_Rela){
                    16 * k + 8, ELF64_R_INFO((uint64_t)symbol_in(i, names[i][k]), R_CUDA_64), 0};
            }
            rename_section(i, ".rela.debug_frame", ".rela.debug_line");
            rename_section(i, ".debug_frame", ".debug_line");
        }
        ck_assert(join_all());
        lines = section_named(".debug_line");
        ck_assert_uint_eq(lines->size, 16 * strlen(rows[row].marks));
        for (size_t i = 0; rows[row].marks[i]; i++)
            ck_assert_int_eq(lines->data.data[16 * i + 4], rows[row].marks[i]);
    }
}

/* Of what chunks say of a sampler, a value counts more than the default, whichever says it. */
TEST(a_sampler_has_the_value_that_a_chunk_gives_it)
{
    static const uint32_t values[][2] = {
        {5, UINT32_MAX}, {UINT32_MAX, 5}, {UINT32_MAX, UINT32_MAX}};

    for (size_t row = 0; row < COUNT(values); row++) {
        uint32_t wanted = values[row][0] < values[row][1] ? values[row][0] : values[row][1];
        char said[16] = "";
        struct info_record record;
        struct bytes rest;

        begin_chunks(0);
        for (size_t i = 0; i < 2; i++) {
            uint32_t sampler = symbol_in(i, "__UFT");
            char *at = bytes_in(i, ".nv.info");

            record_in(i, "__UFT")->st_info = ELF64_ST_INFO(STB_WEAK, STT_CUDA_SAMPLER);
            at[1] = EIATTR_SAMPLER_INIT;
            memcpy(at + 4, &sampler, sizeof sampler);
            memcpy(at + 8, &values[row][i], sizeof values[row][i]);
            at[13] = EIATTR_SAMPLER_FORCE_UNNORMALIZED;
            memcpy(at + 16, &sampler, sizeof sampler);
        }
        ck_assert(join_all());
        rest = section_named(".nv.info")->data;
        while (info_next(&rest, &record)) {
            if (record.attribute == EIATTR_SAMPLER_INIT)
                ck_assert_uint_eq(info_word(record.payload, 1), wanted);
            if (record.attribute == EIATTR_SAMPLER_INIT)
                strcat(said, "i");
            if (record.attribute == EIATTR_SAMPLER_FORCE_UNNORMALIZED)
                strcat(said, "u");
        }
        ck_assert_str_eq(said, "ui");
    }
}

/* Copies whose twins are not the same are not the same. */
TEST(copies_with_different_twins_stay_apart)
{
    begin_chunks(MERCURY);
    bytes_in(1, ".nv.capmerc.text.small")[0] ^= 1;
    ck_assert(join_all());
    ck_assert_uint_eq(count_symbols("small"), 1);
    begin_chunks(MERCURY);
    bytes_in(1, ".nv.capmerc.text.small")[20] ^= 1;
    ck_assert(join_all());
    ck_assert_uint_eq(count_symbols("small"), 2);
    ck_assert_uint_eq(count_sections(".nv.capmerc.text.small"), 2);
}

/* A number of a section's header, or of its contents. */
static const struct {
    size_t chunk;
    const char *section;
    bool is_content;
    size_t at, size;
    uint64_t value;
    const char *why;
} misfits[] = {
#define CODE      ".nv.capmerc.text.small"
#define FIELD(of) false, offsetof(Elf64_Shdr, of), sizeof((Elf64_Shdr *)NULL)->of
    {1, ".nv.merc.nv.info", true, 8, 4, 0x7f, "their records are not the code's"},
    {1, ".nv.merc.nv.info", FIELD(sh_size), 0, "their records are not the code's"},
    {1, CODE, FIELD(sh_info), 0, "there is a section of no function"},
    {1, CODE, FIELD(sh_info), 1, "there is a section of no function"},
    {1, CODE, FIELD(sh_info), 1000, "there is a section of no function"},
    {1, CODE, FIELD(sh_size), 11, "there is a section of no function"},
    {1, ".nv.merc.nv.info.small", FIELD(sh_info), 1, "there is a section of no function"},
    {1, ".nv.merc.rela.text.small", true, 12, 4, 0, "a relocation is against no symbol"},
    {1, ".nv.merc.rela.text.small", true, 12, 4, 1000, "a relocation is against no symbol"},
    {0, ".nv.merc.nv.global.init", FIELD(sh_size), 4, "there is data of other size"},
    {0, ".nv.merc.nv.global.init", FIELD(sh_name), 1, "there is data of another name or type"},
    {0, ".nv.merc.nv.constant.user", FIELD(sh_size), 4, "there is data of other size"},
};

/* Where one chunk's twins are not understood, there are none. */
TEST_LOOP(twins_that_do_not_fit_are_left_out, COUNT(misfits))
{
    char *at;

    begin_chunks(MERCURY);
    at = misfits[_i].is_content ? bytes_in(misfits[_i].chunk, misfits[_i].section)
                                : (char *)header_in(misfits[_i].chunk, misfits[_i].section);
    memcpy(at + misfits[_i].at, &misfits[_i].value, misfits[_i].size);
    ck_assert(join_all());
    buffer_char(&joining.sink.text, '\0');
    ck_assert_msg(strstr(joining.sink.text.data, misfits[_i].why), "expected '%s' in: %s",
                  misfits[_i].why, joining.sink.text.data);
    for (size_t i = 1; i < joining.joined.section_count; i++)
        ck_assert(!cubin_is_mercury(&joining.joined.sections[i]));
    write_joined();
}

/* What is made anew for all functions is not copied where a chunk has it for one: its symbols have
 * the chunk's numbers. */
TEST(a_call_graph_of_one_function_is_not_copied)
{
    static const char name[] = ".nv.callgraph.k1";
    struct buffer *file, names = {0};
    Elf64_Shdr *table, *graph, *first;

    begin_chunks(0);
    file = &joining.files[0];
    table = header_in(0, ".shstrtab");
    buffer_append(&names, file->data + table->sh_offset, table->sh_size);
    graph = header_in(0, ".nv.callgraph");
    graph->sh_flags |= SHF_INFO_LINK;
    first = (Elf64_Shdr *)(void *)(file->data + ((Elf64_Ehdr *)(void *)file->data)->e_shoff);
    graph->sh_info = (Elf64_Word)(header_in(0, ".text.k1") - first);
    graph->sh_name = (Elf64_Word)names.size;
    buffer_append(&names, name, sizeof name);
    table->sh_offset = file->size;
    table->sh_size = names.size;
    buffer_append(file, names.data, names.size);
    buffer_free(&names);
    ck_assert(join_all());
    ck_assert_uint_eq(count_sections(name), 0);
    write_joined();
}

/* The merge judges sections of unknown kinds, so each stays one of its own. */
TEST(sections_of_unknown_kinds_stay)
{
    begin_chunks(MERCURY);
    header_in(0, ".nv.merc.debug_frame")->sh_type = 0x70000099;
    header_in(1, ".nv.merc.debug_frame")->sh_type = 0x70000099;
    header_in(1, ".nv.merc.nv.info.small")->sh_type = 0x70000099;
    ck_assert(join_all());
    ck_assert_uint_eq(count_sections(".nv.merc.debug_frame"), 2);
    ck_assert_uint_eq(count_sections(".nv.merc.nv.info.small"), 2); /* of copies that now differ */
    ck_assert_uint_eq(count_sections(".nv.merc.symtab"), 1);
    write_joined();
}

/* As it is, unless its words may be symbols, which have other numbers in the joined cubin. */
TEST_LOOP(records_of_unknown_kinds_stay, 2)
{
    struct bytes rest;
    struct info_record record = {0};

    begin_chunks(0);
    for (size_t i = 0; i < 2; i++) {
        uint32_t symbol = symbol_in(i, "helper$p");

        memcpy(bytes_in(i, ".nv.info.small"), (const char[]){EIFMT_SVAL, (char)0xaa, 4, 0}, 4);
        memcpy(bytes_in(i, ".nv.info.small") + 4, _i ? &symbol : &(uint32_t){12345}, 4);
    }
    ck_assert(join_all() == (_i == 0));
    if (_i) {
        buffer_char(&joining.sink.text, '\0');
        ck_assert(strstr(joining.sink.text.data, "Attribute 0xaa of .nv.info.small in 'chunk'"));
        return;
    }
    ck_assert(joining.joined.has_unknown_records);
    rest = section_named(".nv.info.small")->data;
    while (record.attribute != 0xaa)
        ck_assert(info_next(&rest, &record));
    ck_assert_uint_eq(info_word(record.payload, 0), 12345);
}
