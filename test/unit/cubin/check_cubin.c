/* Reading cubins: real ones are taken, damaged ones are refused with words that say what is wrong.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "suite.h"

#define PROGRAM "fixtures/cubin/program.sm_90.cubin"

static struct buffer load(const char *path)
{
    struct buffer buffer = {0};
    char block[4096];
    FILE *file = fopen(path, "rb");
    size_t got;

    ck_assert_msg(file != NULL, "%s", path);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&buffer, block, got);
    fclose(file);
    return buffer;
}

/* Reads with the messages kept from the terminal; they are appended to *messages unless it is NULL.
 */
static bool read_quietly(struct bytes data, struct buffer *messages)
{
    struct diag_sink sink = {0};
    struct cubin cubin;
    bool ok;

    context_get()->sink = &sink;
    ok = cubin_read(&cubin, "a.o", data);
    context_get()->sink = NULL;
    ck_assert(ok == (sink.errors == 0));
    if (messages)
        buffer_text(messages, buffer_view(&sink.text));
    diag_sink_free(&sink);
    cubin_free(&cubin);
    return ok;
}

static const char *const real_cubins[] = {
    "fixtures/cubin/program.sm_75.cubin",  "fixtures/cubin/chunk0.sm_75.cubin",
    "fixtures/cubin/program.sm_90.cubin",  "fixtures/cubin/chunk1.sm_90.cubin",
    "fixtures/cubin/debug.sm_90.cubin",    "fixtures/cubin/linked.sm_90.cubin",
    "fixtures/cubin/program.sm_100.cubin", "fixtures/cubin/linked.sm_100.cubin",
};

START_TEST(real_cubins_are_read)
{
    struct buffer file = load(real_cubins[_i]);
    struct cubin cubin;

    ck_assert(cubin_read(&cubin, real_cubins[_i], buffer_bytes(&file)));
    ck_assert_uint_gt(cubin.section_count, 10);
    ck_assert_uint_gt(cubin.symbol_count, 10);
    ck_assert_uint_ne(cubin.symtab, 0);
    cubin_free(&cubin);
    buffer_free(&file);
}
END_TEST

/* Whatever its length, a truncated cubin is refused. The copy has no byte more than is read, so
 * that the sanitizers see what lies behind. */
START_TEST(truncated_cubins_are_refused)
{
    struct buffer file = load(real_cubins[_i]);

    for (size_t size = 0; size < file.size; size += size < 256 ? 1 : 7) {
        uint8_t *copy = malloc(size ? size : 1);

        memcpy(copy, file.data, size);
        ck_assert_msg(!read_quietly((struct bytes){copy, size}, NULL), "%zu bytes", size);
        free(copy);
    }
    buffer_free(&file);
}
END_TEST

/* No flipped byte crashes anything. */
START_TEST(flipped_bytes_do_no_harm)
{
    struct buffer file = load(real_cubins[_i]);
    size_t refused = 0;

    for (size_t at = 0; at < file.size; at++) {
        static const char flips[] = {(char)0xff, 0x01, (char)0x80};
        char flip = flips[at % 3];

        file.data[at] ^= flip;
        refused += !read_quietly(buffer_bytes(&file), NULL);
        file.data[at] ^= flip;
    }
    ck_assert_uint_gt(refused, 500);
    buffer_free(&file);
}
END_TEST

/* The section header of the first section with that name. */
static Elf64_Shdr *header_of(struct buffer *file, const char *name)
{
    Elf64_Ehdr *elf = (Elf64_Ehdr *)(void *)file->data;
    Elf64_Shdr *headers = (Elf64_Shdr *)(void *)(file->data + elf->e_shoff);

    for (size_t i = 1; i < elf->e_shnum; i++)
        if (strcmp(file->data + headers[1].sh_offset + headers[i].sh_name, name) == 0)
            return &headers[i];
    ck_abort_msg("no section %s", name);
}

static Elf64_Ehdr *elf_of(struct buffer *file)
{
    return (Elf64_Ehdr *)(void *)file->data;
}

static uint32_t *words_of(struct buffer *file, const char *name)
{
    return (uint32_t *)(void *)(file->data + header_of(file, name)->sh_offset);
}

static Elf64_Sym *symbol_of(struct buffer *file, const char *name)
{
    const Elf64_Shdr *header = header_of(file, ".symtab");
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)(file->data + header->sh_offset);
    const char *names = file->data + header_of(file, ".strtab")->sh_offset;

    for (size_t i = 1; i < header->sh_size / sizeof *symbols; i++)
        if (strcmp(names + symbols[i].st_name, name) == 0)
            return &symbols[i];
    ck_abort_msg("no symbol %s", name);
}

static Elf64_Rela *relocations_of(struct buffer *file, const char *name)
{
    return (Elf64_Rela *)(void *)(file->data + header_of(file, name)->sh_offset);
}

static void wrong_machine(struct buffer *f)
{
    elf_of(f)->e_machine = EM_X86_64;
}
static void wrong_abi(struct buffer *f)
{
    elf_of(f)->e_ident[EI_ABIVERSION] = 7;
}
static void wrong_type(struct buffer *f)
{
    elf_of(f)->e_type = ET_DYN;
}
static void table_outside(struct buffer *f)
{
    elf_of(f)->e_shoff = f->size - 10;
}
static void table_too_long(struct buffer *f)
{
    elf_of(f)->e_shnum = 9999;
}
static void extended_count(struct buffer *f)
{
    elf_of(f)->e_shnum = 0;
    ((Elf64_Shdr *)(void *)(f->data + elf_of(f)->e_shoff))->sh_size = UINT64_MAX / 64;
}
static void no_names(struct buffer *f)
{
    elf_of(f)->e_shstrndx = 3;
}
static void section_outside(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_size = 1u << 20;
}
static void offset_wraps(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_offset = UINT64_MAX - 8;
}
static void crooked_alignment(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_addralign = 3;
}
static void huge_alignment(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_addralign = UINT64_C(1) << 40;
}
static void name_outside(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_name = 1u << 30;
}
static void link_outside(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_link = 1000;
}
static void info_outside(struct buffer *f)
{
    header_of(f, ".nv.info.k1")->sh_info = 1000;
}
static void overlap(struct buffer *f)
{
    Elf64_Shdr *all = (Elf64_Shdr *)(void *)(f->data + elf_of(f)->e_shoff);

    for (size_t i = 4; i < 12; i++) {
        all[i].sh_offset = 0;
        all[i].sh_size = f->size;
    }
}
static void not_its_function(struct buffer *f)
{
    header_of(f, ".text.k1")->sh_info = 1;
}
static void symbol_size(struct buffer *f)
{
    header_of(f, ".symtab")->sh_entsize = 16;
}
static void symbol_name_outside(struct buffer *f)
{
    symbol_of(f, "k1")->st_name = 1u << 20;
}
static void symbol_section_outside(struct buffer *f)
{
    symbol_of(f, "k1")->st_shndx = 500;
}
static void symbol_extended(struct buffer *f)
{
    symbol_of(f, "k1")->st_shndx = SHN_XINDEX;
}
static void symbol_beyond_section(struct buffer *f)
{
    symbol_of(f, "buffer")->st_value = 1u << 20;
}
static void symbol_of_frames(struct buffer *f)
{
    const Elf64_Shdr *headers = (const Elf64_Shdr *)(const void *)(f->data + elf_of(f)->e_shoff);

    symbol_of(f, "buffer")->st_shndx = (uint16_t)(header_of(f, ".debug_frame") - headers);
    symbol_of(f, "buffer")->st_value = 0;
}
static void data_records(struct buffer *f)
{
    header_of(f, ".debug_frame")->sh_entsize = 7;
}
static void parameter_records(struct buffer *f)
{
    header_of(f, ".nv.constant0.k1")->sh_entsize = 3;
}
static void symbol_wraps(struct buffer *f)
{
    symbol_of(f, "buffer")->st_value = UINT64_MAX - 4;
}
/* Found by the fuzzer: the place of a symbol without a type counts too. */
static void typeless_symbol(struct buffer *f)
{
    symbol_of(f, "counter")->st_info = STT_NOTYPE;
    symbol_of(f, "counter")->st_value = 1u << 20;
}
static void shared_alignment(struct buffer *f)
{
    symbol_of(f, "tile")->st_value = 12;
}
static void symbol_binding(struct buffer *f)
{
    symbol_of(f, "k1")->st_info = 0xf2;
}
static void relocation_outside(struct buffer *f)
{
    relocations_of(f, ".rela.text.k1")->r_offset = header_of(f, ".text.k1")->sh_size - 8;
}
static void relocation_symbol(struct buffer *f)
{
    relocations_of(f, ".rela.text.k1")->r_info = ELF64_R_INFO(UINT64_C(5000), R_CUDA_64);
}
static void relocation_without_symbol(struct buffer *f)
{
    relocations_of(f, ".rela.text.k1")->r_info = R_CUDA_64;
}
static void relocation_size(struct buffer *f)
{
    header_of(f, ".rela.text.k1")->sh_entsize = 16;
}
static void relocation_target(struct buffer *f)
{
    header_of(f, ".rela.text.k1")->sh_info = 3;
}
static void relocation_link(struct buffer *f)
{
    header_of(f, ".rela.text.k1")->sh_link = 2;
}
static void info_torn(struct buffer *f)
{
    header_of(f, ".nv.info")->sh_size -= 4;
}
static void info_format(struct buffer *f)
{
    *(char *)words_of(f, ".nv.info") = 9;
}
static void info_symbol(struct buffer *f)
{
    words_of(f, ".nv.info")[1] = 4000;
}
static void callgraph_begin(struct buffer *f)
{
    words_of(f, ".nv.callgraph")[1] = 1;
}
static void callgraph_part(struct buffer *f)
{
    words_of(f, ".nv.callgraph")[1] = (uint32_t)-9;
}
static void callgraph_symbol(struct buffer *f)
{
    words_of(f, ".nv.callgraph")[2] = 4000;
}
static void callgraph_odd(struct buffer *f)
{
    header_of(f, ".nv.callgraph")->sh_size -= 4;
}
static void note_torn(struct buffer *f)
{
    words_of(f, ".note.nv.tkinfo")[1] = 1u << 30;
}

/* What is changed, and words of the message. */
static const struct {
    void (*damage)(struct buffer *file);
    const char *words;
} damages[] = {
    {wrong_machine, "'a.o' is not a cubin: its ELF machine is 62, expected 190"},
    {wrong_abi, "version 7, expected 0x41 version 8"},
    {symbol_of_frames, "stands in section 4 (.debug_frame), where none can"},
    {data_records, "(.debug_frame) has records of 7 bytes, expected none"},
    {parameter_records, "(.nv.constant0.k1) has records of 3 bytes, expected none"},
    {wrong_type, "'a.o' is a damaged cubin: its ELF type is 3"},
    {table_outside, "section headers"},
    {table_too_long, "its 9999 section headers"},
    {extended_count, "section headers"},
    {no_names, "is no string table"},
    {section_outside, "has 1048576 bytes at byte"},
    {offset_wraps, "at byte 18446744073709551607"},
    {crooked_alignment, "alignment 3, expected a power of two"},
    {huge_alignment, "alignment 1099511627776"},
    {name_outside, "the name of section"},
    {link_outside, "(.text.k1) is linked to section 1000"},
    {info_outside, "(.nv.info.k1) belongs to section 1000"},
    {overlap, "overlaps others"},
    {not_its_function, "(.text.k1) names symbol 1"},
    {symbol_size, "symbols of 16, expected symbols of 24"},
    {symbol_name_outside, "the name of symbol"},
    {symbol_section_outside, "(k1) stands in section 500"},
    {symbol_extended, "(k1) has no extended section index"},
    {symbol_beyond_section, "(buffer) has 48 bytes at byte 1048576"},
    {symbol_wraps, "(buffer) has 48 bytes at byte"},
    {typeless_symbol, "(counter) has 4 bytes at byte 1048576"},
    {shared_alignment, "(tile) has alignment 12"},
    {symbol_binding, "(k1) has binding 15"},
    {relocation_outside, "(.rela.text.k1) is for byte"},
    {relocation_symbol, "(.rela.text.k1) refers to symbol 5000"},
    {relocation_without_symbol, "(.rela.text.k1) refers to symbol 0"},
    {relocation_size, "records of 16, expected records of 24"},
    {relocation_target, "which cannot be relocated"},
    {relocation_link, "is linked to section 2, which is no symbol table"},
    {info_torn, "(.nv.info) ends within a record"},
    {info_format, "record of format 9"},
    {info_symbol, "for symbol 4000"},
    {callgraph_begin, "does not begin with a part's number"},
    {callgraph_part, "begins part -9"},
    {callgraph_symbol, "is for symbol 4000"},
    {callgraph_odd, "expected pairs of 8"},
    {note_torn, "ends within a note"},
};

START_TEST(damage_is_named)
{
    struct buffer file = load(PROGRAM);
    struct buffer messages = {0};

    damages[_i].damage(&file);
    ck_assert(!read_quietly(buffer_bytes(&file), &messages));
    buffer_char(&messages, '\0');
    ck_assert_msg(strstr(messages.data, damages[_i].words), "expected '%s' in: %s",
                  damages[_i].words, messages.data);
    buffer_free(&messages);
    buffer_free(&file);
}
END_TEST

static uint32_t find_symbol(const struct cubin *cubin, const char *name)
{
    for (uint32_t i = 1; i < cubin->symbol_count; i++)
        if (text_equal(cubin->symbols[i].name, text_of(name)) &&
            cubin->symbols[i].type != STT_SECTION)
            return i;
    return 0;
}

START_TEST(sections_know_their_functions)
{
    static const char *const names[] = {".text.k1", ".nv.info.k1", ".rela.text.k1",
                                        ".nv.constant0.k1"};
    struct buffer file = load(PROGRAM);
    struct cubin cubin;

    ck_assert(cubin_read(&cubin, "p", buffer_bytes(&file)));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t section = cubin_section_find(&cubin, text_of(names[i]));

        ck_assert_uint_ne(section, 0);
        ck_assert_uint_eq(cubin_section_function(&cubin, section), find_symbol(&cubin, "k1"));
    }
    ck_assert_uint_eq(
        cubin_section_function(&cubin, cubin_section_find(&cubin, TEXT(".nv.global.init"))), 0);
    ck_assert_uint_eq(cubin_section_find(&cubin, TEXT(".text.k9")), 0);
    cubin_free(&cubin);
    buffer_free(&file);
}
END_TEST

START_TEST(in_place_relocations_have_no_addend)
{
    struct buffer file = load("fixtures/cubin/program.sm_75.cubin");
    struct cubin cubin;
    const struct cubin_section *section;

    ck_assert(cubin_read(&cubin, "p", buffer_bytes(&file)));
    section = &cubin.sections[cubin_section_find(&cubin, TEXT(".rel.text.k1"))];
    ck_assert_uint_eq(section->type, SHT_REL);
    ck_assert_uint_gt(section->relocation_count, 0);
    for (size_t i = 0; i < section->relocation_count; i++)
        ck_assert_int_eq(section->relocations[i].addend, 0);
    cubin_free(&cubin);
    buffer_free(&file);
}
END_TEST

START_TEST(info_records_are_walked)
{
    static const uint8_t data[] = {4, 0x2f, 8,    0,    1,    0, 0, 0, 9,    0, 0,
                                   0, 3,    0x1b, 0xff, 0x12, 4, 4, 8, 0x11, 0};
    struct bytes rest = {data, sizeof data};
    struct info_record record;

    ck_assert(info_next(&rest, &record));
    ck_assert_uint_eq(record.attribute, EIATTR_REGCOUNT);
    ck_assert_uint_eq(info_symbol_words(&record), 1);
    ck_assert_uint_eq(info_word(record.payload, 1), 9);
    ck_assert_uint_eq(info_word(record.payload, 2), 0);
    ck_assert(info_next(&rest, &record));
    ck_assert_uint_eq(record.value, 0x12ff);
    ck_assert_uint_eq(info_symbol_words(&record), 0);
    ck_assert(!info_next(&rest, &record));
    ck_assert_uint_eq(rest.size, 5);
}
END_TEST

Suite *check_suite(void)
{
    Suite *suite = suite_create("cubin");
    TCase *tests = tcase_create("cubin");
    int cubins = COUNT(real_cubins);

    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, real_cubins_are_read, 0, cubins);
    tcase_add_loop_test(tests, truncated_cubins_are_refused, 0, cubins);
    tcase_add_loop_test(tests, flipped_bytes_do_no_harm, 0, cubins);
    tcase_add_loop_test(tests, damage_is_named, 0, COUNT(damages));
    tcase_add_test(tests, sections_know_their_functions);
    tcase_add_test(tests, in_place_relocations_have_no_addend);
    tcase_add_test(tests, info_records_are_walked);
    suite_add_tcase(suite, tests);
    return suite;
}
