/* Reading cubins: real ones are taken, damaged ones are refused with what is wrong. */

#include "cubin/cubin.h"
#include "cubin/format.h"
#include "diag/diag.h"
#include "files.h"
#include "suite.h"

#define PROGRAM "fixtures/cubin/program.sm_90.cubin"
#define MERCURY "fixtures/cubin/program.sm_100.cubin"

/* Reads with the messages kept from the terminal, appended to *messages unless it is NULL. */
static bool read_quietly(struct bytes data, struct buffer *messages)
{
    OWNED(diag_sink) sink = {0};
    OWNED(cubin) cubin;
    bool ok;

    diag_state_get()->sink = &sink;
    ok = cubin_read(&cubin, "a.o", data);
    diag_state_get()->sink = NULL;
    ck_assert(ok == (sink.errors == 0));
    if (messages)
        buffer_text(messages, buffer_view(&sink.text));
    return ok;
}

static const char *const real_cubins[] = {
    "fixtures/cubin/program.sm_75.cubin",  "fixtures/cubin/chunk0.sm_75.cubin",
    "fixtures/cubin/program.sm_90.cubin",  "fixtures/cubin/chunk1.sm_90.cubin",
    "fixtures/cubin/debug.sm_90.cubin",    "fixtures/cubin/linked.sm_90.cubin",
    "fixtures/cubin/program.sm_100.cubin", "fixtures/cubin/linked.sm_100.cubin",
};

TEST_LOOP(real_cubins_are_read, COUNT(real_cubins))
{
    OWNED(buffer) file = files_load(real_cubins[_i]);
    OWNED(cubin) cubin;

    ck_assert(cubin_read(&cubin, real_cubins[_i], buffer_bytes(&file)));
    ck_assert_uint_gt(cubin.section_count, 10);
    ck_assert_uint_gt(cubin.symbol_count, 10);
    ck_assert_uint_ne(cubin.symtab, 0);
}

/* Whatever its length, a truncated cubin is refused. The copy has no byte more than is read, so
 * that the sanitizers see what lies behind. */
TEST_LOOP(truncated_cubins_are_refused, COUNT(real_cubins))
{
    OWNED(buffer) file = files_load(real_cubins[_i]);

    for (size_t size = 0; size < file.size; size += size < 256 ? 1 : 7) {
        FREED uint8_t *copy = malloc(size ? size : 1);

        memcpy(copy, file.data, size);
        ck_assert_msg(!read_quietly((struct bytes){copy, size}, NULL), "%zu bytes", size);
    }
}

TEST(a_header_alone_has_no_sections)
{
    OWNED(buffer) file = files_load(*real_cubins), said = {0};

    ck_assert(!read_quietly((struct bytes){(const uint8_t *)file.data, sizeof(Elf64_Ehdr)}, &said));
    buffer_char(&said, '\0');
    ck_assert_msg(strstr(said.data, "section") != NULL, "%s", said.data);
}

/* No flipped byte crashes anything. */
TEST_LOOP(flipped_bytes_do_no_harm, COUNT(real_cubins))
{
    OWNED(buffer) file = files_load(real_cubins[_i]);
    size_t refused = 0;

    for (size_t at = 0; at < file.size; at++) {
        static const char flips[] = {(char)0xff, 0x01, (char)0x80};
        char flip = flips[at % 3];

        file.data[at] ^= flip;
        refused += !read_quietly(buffer_bytes(&file), NULL);
        file.data[at] ^= flip;
    }
    ck_assert_uint_gt(refused, 500);
}

static Elf64_Ehdr *elf_of(struct buffer *file)
{
    return (Elf64_Ehdr *)(void *)file->data;
}

/* Members of archives and fatbins stand at any address. */
TEST_LOOP(a_cubin_at_an_odd_address_is_read, COUNT(real_cubins))
{
    OWNED(buffer) file = files_load(real_cubins[_i]), moved = {0};
    OWNED(cubin) cubin;

    buffer_char(&moved, 'x');
    buffer_append(&moved, file.data, file.size);
    ck_assert(cubin_read(&cubin, real_cubins[_i],
                         (struct bytes){(const uint8_t *)moved.data + 1, file.size}));
    ck_assert_uint_gt(cubin.section_count, 10);
    ck_assert_ptr_eq(
        cubin.strings.data,
        (const uint8_t *)moved.data + 1 +
            ((const Elf64_Shdr *)(const void *)(file.data +
                                                elf_of(&file)
                                                    ->e_shoff))[cubin.sections[cubin.symtab].link]
                .sh_offset);
}

static Elf64_Sym *symbol_of(struct buffer *file, const char *name)
{
    const Elf64_Shdr *header = files_header_of(file, ".symtab");
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)(file->data + header->sh_offset);
    const char *names = file->data + files_header_of(file, ".strtab")->sh_offset;

    for (size_t i = 1; i < header->sh_size / sizeof *symbols; i++)
        if (strcmp(names + symbols[i].st_name, name) == 0)
            return &symbols[i];
    ck_abort_msg("no symbol %s", name);
}

/* A number of a cubin is changed. */
struct edit {
    enum { NONE, FILE_HEADER, NULL_SECTION, SECTION, SYMBOL, CONTENTS } place;
    const char *name; /* of a section or symbol */
    size_t at;        /* where, and how many bytes */
    size_t size;
    uint64_t value;
};

#define FIELD(type, field) offsetof(type, field), sizeof((type *)NULL)->field
#define E(field)           FILE_HEADER, NULL, FIELD(Elf64_Ehdr, field)
#define H(name, field)     SECTION, name, FIELD(Elf64_Shdr, field)
#define S(name, field)     SYMBOL, name, FIELD(Elf64_Sym, field)
#define R(name, field)     CONTENTS, name, FIELD(Elf64_Rela, field)
#define W(name, word)      CONTENTS, name, 4 * (word), 4
#define INFO(symbol, type) ELF64_R_INFO(UINT64_C(symbol), type)

static const struct {
    const char *words; /* of the message; NULL: it is read */
    struct edit edits[9];
} edited[] = {
    {NULL, {{E(e_machine), EM_CUDA}}},
    /* The file header, and where the section headers are: 33 of them at byte 10816 of 12928. */
    {"'a.o' is not a cubin: its ELF machine is 62, expected 190", {{E(e_machine), EM_X86_64}}},
    {"version 7, expected 0x41 version 8", {{E(e_ident[EI_ABIVERSION]), 7}}},
    {"says 0x40 version 8", {{E(e_ident[EI_OSABI]), 0x40}}},
    {"is a damaged cubin: its ELF type is 3", {{E(e_type), ET_DYN}}},
    {NULL, {{E(e_type), ET_EXEC}}},
    {"its ELF version is 2", {{E(e_version), 2}}},
    {"headers have 63 bytes, expected 64", {{E(e_shentsize), 63}}},
    {"headers stand at byte 63", {{E(e_shoff), 63}}},
    {"headers stand at byte 12865", {{E(e_shoff), 12865}}},
    {"its 33 section headers at byte 12864 do not fit", {{E(e_shoff), 12864}}},
    {"its 34 section headers", {{E(e_shnum), 34}}},
    {"its 0 section headers", {{E(e_shnum), 0}}},
    {"section 0 has 33 bytes", {{NULL_SECTION, NULL, FIELD(Elf64_Shdr, sh_size), 33}}},
    {NULL, {{E(e_shnum), 0}, {NULL_SECTION, NULL, FIELD(Elf64_Shdr, sh_size), 33}}},
    {"its 34 section headers",
     {{E(e_shnum), 0}, {NULL_SECTION, NULL, FIELD(Elf64_Shdr, sh_size), 34}}},
    {"section headers",
     {{E(e_shnum), 0}, {NULL_SECTION, NULL, FIELD(Elf64_Shdr, sh_size), UINT64_MAX / 64}}},
    {"its 1 program headers", {{E(e_phnum), 1}, {E(e_phentsize), 55}}},
    {"its 1 program headers", {{E(e_phnum), 1}, {E(e_phentsize), 56}, {E(e_phoff), 12873}}},
    {NULL, {{E(e_phnum), 1}, {E(e_phentsize), 56}, {E(e_phoff), 12872}}},
    {"section 3, which should hold", {{E(e_shstrndx), 3}}},
    {"section 33, which should hold", {{E(e_shstrndx), 33}}},
    {"section 0, which should hold", {{E(e_shstrndx), 0}}},
    {"does not end with NUL", {{H(".shstrtab", sh_size), 600}}},
    /* Section headers. */
    {NULL, {{H(".text.k1", sh_size), 4224}}},
    {"has 4225 bytes at byte 8704", {{H(".text.k1", sh_size), 4225}}},
    {"at byte 18446744073709551607", {{H(".text.k1", sh_offset), UINT64_MAX - 8}}},
    {"alignment 3, expected a power of two", {{H(".text.k1", sh_addralign), 3}}},
    {NULL, {{H(".text.k1", sh_addralign), 1 << 20}}},
    {"alignment 2097152", {{H(".text.k1", sh_addralign), 1 << 21}}},
    {NULL, {{H(".nv.compat", sh_name), 600}}},
    {"the name of section 8 stands at byte 601 of 601", {{H(".nv.compat", sh_name), 601}}},
    {NULL, {{H(".text.k1", sh_link), 32}}},
    {"(.text.k1) is linked to section 33", {{H(".text.k1", sh_link), 33}}},
    {NULL, {{H(".nv.info.k1", sh_info), 32}}},
    {"(.nv.info.k1) belongs to section 33", {{H(".nv.info.k1", sh_info), 33}}},
    {"(.nv.info.k1) belongs to section 0", {{H(".nv.info.k1", sh_info), 0}}},
    {"overlaps others",
     {{H(".debug_frame", sh_offset), 0},
      {H(".debug_frame", sh_size), 12928},
      {H(".nv.compat", sh_offset), 0},
      {H(".nv.compat", sh_size), 12928}}},
    {NULL, {{H(".debug_frame", sh_entsize), 1}}},
    {"(.debug_frame) has records of 2 bytes, expected none", {{H(".debug_frame", sh_entsize), 2}}},
    {"(.nv.constant0.k1) has records of 3 bytes", {{H(".nv.constant0.k1", sh_entsize), 3}}},
    {"(.nv.constant3) has records of 3 bytes", {{H(".nv.constant3", sh_entsize), 3}}},
    {"(.nv.global) has records of 3 bytes", {{H(".nv.global", sh_entsize), 3}}},
    {"(.nv.global.init) has records of 3 bytes", {{H(".nv.global.init", sh_entsize), 3}}},
    {"(.note.nv.cuinfo) has records of 3 bytes", {{H(".note.nv.cuinfo", sh_entsize), 3}}},
    {"(.nv.info) has records of 3 bytes", {{H(".nv.info", sh_entsize), 3}}},
    {"(.nv.compat) has records of 3 bytes", {{H(".nv.compat", sh_entsize), 3}}},
    {"section 29 has 1099511627777 bytes", {{H(".nv.global", sh_size), (UINT64_C(1) << 40) + 1}}},
    {"(.text.k1) names symbol 1", {{H(".text.k1", sh_info), 1}}},
    {"(.text.k1) names symbol 34", {{H(".text.k1", sh_info), 34}}},
    {"(.text.k1) names symbol 38 of 38", {{H(".text.k1", sh_info), 38}}},
    {NULL, {{H(".text.k1", sh_info), 0x1000023}}},
    /* Names, types and owners. */
    {"must be recompiled with toolkit >= Cuda 12.0", {{E(e_flags), 0x7005a04}}},
    {"must be recompiled with toolkit >= Cuda 12.0", {{E(e_flags), 0x21005a04}}},
    {NULL, {{E(e_flags), 0x5a04}}},
    {NULL, {{E(e_flags), 0xff005a04}}},
    {"must be recompiled with toolkit >= Cuda 12.0",
     {{E(e_flags), 0xff005a04}, {H(".note.nv.cuinfo", sh_name), 0}}},
    {"(.nv.info.k1) has type 0x70100000, expected 0x70000000",
     {{H(".nv.info.k1", sh_type), 0x70100000}}},
    {"(.nv.info) belongs to section 3, expected none", {{H(".nv.info", sh_info), 3}}},
    {"(.nv.info.k1) of type 0x70000000 has a name that does not fit section 26 (.text.k2)",
     {{H(".nv.info.k1", sh_info), 26}}},
    {"(.nv.constant0.k1) of type 0x70000064 has a name that does not fit section 26 (.text.k2)",
     {{H(".nv.constant0.k1", sh_info), 26}}},
    {"(.nv.constant0.k1) of type 0x70000065 has a name that does not fit section 27 (.text.k1)",
     {{H(".nv.constant0.k1", sh_type), 0x70000065}}},
    {"(.nv.info) has a record without an attribute", {{W(".nv.info", 0), 0x80004}}},
    {" holds code, whose name begins with .text.", {{H(".text.k1", sh_name), 0}}},
    {" of type 0x4 has a name that does not fit section 27 (.text.k1)",
     {{H(".rela.text.k1", sh_name), 0}}},
    /* Symbols: 38, with names in 820 bytes. */
    {"symbols of 16, expected symbols of 24", {{H(".symtab", sh_entsize), 16}}},
    /* libelf does not give the contents of this one. */
    {"(.symtab) has 911 bytes in symbols of 24, expected symbols of 24",
     {{H(".symtab", sh_size), 911}}},
    {"(.symtab) has 0 bytes", {{H(".symtab", sh_size), 0}}},
    {"says that 39 of its 38 symbols are local", {{H(".symtab", sh_info), 39}}},
    {"linked to section 4, which is no string table", {{H(".symtab", sh_link), 4}}},
    {"linked to section 2, which is no string table", {{H(".strtab", sh_size), 819}}},
    {"both symbol tables", {{H(".debug_frame", sh_type), SHT_SYMTAB}}},
    {"(.text.k1) holds function ''", {{S("k1", st_name), 819}}},
    {"the name of symbol 35 stands at byte 820 of 820", {{S("k1", st_name), 820}}},
    {"its first symbol is not the null symbol", {{CONTENTS, ".symtab", 0, 4, 1}}},
    {"its first symbol is not the null symbol", {{CONTENTS, ".symtab", 4, 1, 2}}},
    {"its first symbol is not the null symbol", {{CONTENTS, ".symtab", 6, 2, 0xfff1}}},
    {"(k1) stands in section 33 of 33", {{S("k1", st_shndx), 33}}},
    {"(k1) has no extended section index", {{S("k1", st_shndx), SHN_XINDEX}}},
    {"(k1) has binding 3", {{S("k1", st_info), 0x32}}},
    {"(buffer) has 48 bytes at byte 1 of", {{S("buffer", st_value), 1}}},
    {"(buffer) has 49 bytes at byte 0 of", {{S("buffer", st_size), 49}}},
    {NULL, {{S("buffer", st_value), 1}, {S("buffer", st_size), 47}}},
    {"(buffer) has 48 bytes at byte", {{S("buffer", st_value), UINT64_MAX - 4}}},
    {NULL, {{S("buffer", st_value), 1000}, {S("buffer", st_size), 0}}},
    {"(pointer) has 0 bytes at byte 13 of",
     {{S("pointer", st_value), 13}, {S("pointer", st_size), 0}}},
    {NULL, {{S("pointer", st_value), 12}, {S("pointer", st_size), 0}}},
    {"(buffer) has 1099511627777 bytes", {{S("buffer", st_size), (UINT64_C(1) << 40) + 1}}},
    {"(buffer) has 1099511627777 bytes",
     {{S("buffer", st_size), (UINT64_C(1) << 40) + 1}, {S("buffer", st_shndx), SHN_UNDEF}}},
    {NULL, {{S("buffer", st_value), 1 << 30}, {S("buffer", st_shndx), SHN_ABS}}},
    {NULL, {{S("buffer", st_value), 16}, {S("buffer", st_shndx), SHN_COMMON}}},
    {"(buffer) has alignment 12",
     {{S("buffer", st_value), 12}, {S("buffer", st_shndx), SHN_COMMON}}},
    {"(buffer) has alignment 0", {{S("buffer", st_shndx), SHN_COMMON}}},
    {"stands in section 4 (.debug_frame), where none can", {{S("buffer", st_shndx), 4}}},
    /* Found by the fuzzer: the place of a symbol without a type counts too. */
    {"(counter) has 4 bytes at byte 9",
     {{S("counter", st_info), STT_NOTYPE}, {S("counter", st_value), 9}}},
    {"(tile) has alignment 12", {{S("tile", st_value), 12}}},
    {"(tile) has alignment 0", {{S("tile", st_value), 0}}},
    {NULL, {{S("tile", st_value), 1 << 20}}},
    {"(tile) has alignment 2097152", {{S("tile", st_value), 1 << 21}}},
    {"(tile) has 65 bytes in", {{S("tile", st_size), 65}}},
    /* Relocations. */
    {NULL, {{R(".rela.text.k1", r_offset), 0x400 - 16}}},
    {"(.rela.text.k1) is for byte 1009 of 1024", {{R(".rela.text.k1", r_offset), 0x400 - 15}}},
    {"(.rela.text.k1) is for byte 1025 of 1024", {{R(".rela.text.k1", r_offset), 0x401}}},
    {NULL, {{R(".rela.nv.global.init", r_offset), 4}}},
    {"is for byte 5 of 12", {{R(".rela.nv.global.init", r_offset), 5}}},
    {NULL, {{R(".rela.text.k1", r_info), INFO(37, R_CUDA_64)}}},
    {"(.rela.text.k1) refers to symbol 38", {{R(".rela.text.k1", r_info), INFO(38, R_CUDA_64)}}},
    {"(.rela.text.k1) refers to symbol 0", {{R(".rela.text.k1", r_info), INFO(0, R_CUDA_64)}}},
    {NULL, {{R(".rela.text.k1", r_info), INFO(0, R_CUDA_NONE)}}},
    {NULL, {{R(".rela.text.k1", r_info), INFO(0, R_CUDA_YIELD_OPCODE9_0)}}},
    {NULL, {{R(".rela.text.k1", r_info), INFO(0, R_CUDA_YIELD_CLEAR_PRED4_87)}}},
    {"records of 16, expected records of 24", {{H(".rela.text.k1", sh_entsize), 16}}},
    {"(.rela.text.k1) has 239 bytes in records of 24", {{H(".rela.text.k1", sh_size), 239}}},
    {"(.rela.text.k1) relocates section 33 of 33",
     {{H(".rela.text.k1", sh_info), 33}, {H(".rela.text.k1", sh_flags), 0}}},
    {"(.rela.text.k1) relocates section 0 of 33",
     {{H(".rela.text.k1", sh_info), 0}, {H(".rela.text.k1", sh_flags), 0}}},
    {"relocates section 2 (.strtab), which cannot be relocated",
     {{H(".rela.text.k1", sh_info), 2}}},
    {"relocates section 3 (.symtab), which cannot", {{H(".rela.text.k1", sh_info), 3}}},
    {"relocates section 16 (.rela.text.small), which", {{H(".rela.text.k1", sh_info), 16}}},
    {"relocates section 29 (.nv.global), which", {{H(".rela.text.k1", sh_info), 29}}},
    {"is linked to section 2, which is no symbol table", {{H(".rela.text.k1", sh_link), 2}}},
    {"is linked to section 2, which", {{H(".rela.text.k1", sh_link), 2}, {E(e_type), ET_EXEC}}},
    {NULL,
     {{H(".rela.text.k1", sh_link), 2},
      {E(e_type), ET_EXEC},
      {E(e_ident[EI_OSABI]), CUBIN_OLD_OSABI},
      {E(e_ident[EI_ABIVERSION]), 7},
      {E(e_version), 120},
      {E(e_flags), 0x5a055a}}},
    /* Found by the fuzzer: joining took it for a section of a function's. */
    {"section 3 (.symtab) is a symbol table that belongs",
     {{H(".symtab", sh_flags), SHF_INFO_LINK}, {H(".symtab", sh_info), 20}}},
    /* Contents. */
    {"(.nv.info) ends within a record, at byte 204 of 212", {{H(".nv.info", sh_size), 212}}},
    {"record of format 5", {{W(".nv.info", 0), 0x82f05}}},
    {"record of format 0", {{W(".nv.info", 0), 0x82f00}}},
    {"record 0x2f of 4 bytes, expected 8", {{W(".nv.info", 0), 0x42f04}}},
    {"record 0x1e of 0 bytes, expected 4", {{W(".nv.info", 0), 0x1e04}}},
    {"for symbol 38 of 38", {{W(".nv.info", 1), 38}}},
    {"for symbol 0 of 38", {{W(".nv.info", 1), 0}}},
    {NULL, {{W(".nv.compat", 7), 4000}}},
    {"does not begin with a part's number", {{W(".nv.callgraph", 1), 1}}},
    {"begins part -5", {{W(".nv.callgraph", 1), (uint32_t)-5}}},
    {"entry 1 of section 15 (.nv.callgraph) is for symbol 38", {{W(".nv.callgraph", 2), 38}}},
    {"is for symbol 0 of 38", {{W(".nv.callgraph", 2), 0}}},
    {"refers to symbol 38 of 38", {{W(".nv.callgraph", 3), 38}}},
    {"refers to symbol 0 of 38", {{W(".nv.callgraph", 3), 0}}},
    {NULL, {{W(".nv.callgraph", 15), 819}, {W(".nv.callgraph", 19), 0}}},
    {"refers to string byte 820 of 820", {{W(".nv.callgraph", 15), 820}}},
    {"refers to string byte 820 of 820", {{W(".nv.callgraph", 19), 820}}},
    {"refers to symbol 38 of 38", {{W(".nv.callgraph", 23), 38}}},
    {"expected pairs of 8", {{H(".nv.callgraph", sh_size), 92}}},
    {"has 28 bytes, expected pairs of 8",
     {{H(".nv.compat", sh_type), SHT_CUDA_PROTOTYPE}, {H(".nv.compat", sh_size), 28}}},
    {"entry 0 of section 8 (.nv.compat) is for symbol 2306",
     {{H(".nv.compat", sh_type), SHT_CUDA_PROTOTYPE}, {H(".nv.compat", sh_size), 8}}},
    {"entry 0 of section 8 (.nv.compat) is for symbol 0 of 38",
     {{H(".nv.compat", sh_type), SHT_CUDA_PROTOTYPE},
      {H(".nv.compat", sh_size), 8},
      {W(".nv.compat", 0), 0},
      {E(e_type), ET_EXEC}}},
    {NULL,
     {{H(".nv.compat", sh_type), SHT_CUDA_PROTOTYPE},
      {H(".nv.compat", sh_size), 8},
      {W(".nv.compat", 0), 0},
      {W(".nv.compat", 1), 1},
      {E(e_type), ET_EXEC},
      {E(e_ident[EI_OSABI]), CUBIN_OLD_OSABI},
      {E(e_ident[EI_ABIVERSION]), 7},
      {E(e_version), 123},
      {E(e_flags), 0x5a055a}}},
    {"ends within a note of 36 bytes, of which 32 are there", {{W(".note.nv.cuinfo", 1), 9}}},
    {"ends within a note of 36 bytes", {{W(".note.nv.cuinfo", 0), 13}}},
    {"ends within a note of 12 bytes, of which 11", {{H(".note.nv.cuinfo", sh_size), 11}}},
    /* Mercury's sections, of which symbols and relocations are not decoded. */
    {NULL, {{CONTENTS, ".nv.merc.symtab", 24, 4, 833}}},
    {"the name of Mercury symbol 1 stands at byte 834 of 834",
     {{CONTENTS, ".nv.merc.symtab", 24, 4, 834}}},
    {"stands in section 55 of 55", {{CONTENTS, ".nv.merc.symtab", 30, 2, 55}}},
    {NULL, {{CONTENTS, ".nv.merc.symtab", 30, 2, SHN_ABS}}},
    {"(.nv.merc.symtab) has 864 bytes in symbols of 16", {{H(".nv.merc.symtab", sh_entsize), 16}}},
    {"(.nv.merc.rela.text.k1) has 264 bytes in records of 16",
     {{H(".nv.merc.rela.text.k1", sh_entsize), 16}}},
    {"is linked to section 3, which is no symbol table",
     {{H(".nv.merc.rela.text.k1", sh_link), 3}}},
    {"is none of Mercury's", {{H(".nv.merc.debug_frame", sh_flags), 0}}},
    {"with Mercury's flag", {{H(".symtab", sh_flags), SHF_CUDA_MERCURY}}},
    {"with Mercury's flag", {{H(".strtab", sh_flags), SHF_CUDA_MERCURY}}},
    {"with Mercury's flag", {{H(".rela.debug_frame", sh_flags), SHF_CUDA_MERCURY}}},
    {"record 0x2f of 4 bytes, expected 8", {{W(".nv.merc.nv.info", 0), 0x42f04}}},
};

static void make_edit(struct buffer *file, const struct edit *edit)
{
    char *at = file->data;

    if (edit->place == NULL_SECTION)
        at += elf_of(file)->e_shoff;
    else if (edit->place == SECTION)
        at = (char *)files_header_of(file, edit->name);
    else if (edit->place == SYMBOL)
        at = (char *)symbol_of(file, edit->name);
    else if (edit->place == CONTENTS)
        at += files_header_of(file, edit->name)->sh_offset;
    memcpy(at + edit->at, &edit->value, edit->size); /* little-endian */
}

/* Each bound is tried from both sides. */
TEST_LOOP(damage_is_named_and_nothing_else_is_damage, COUNT(edited))
{
    const char *first = edited[_i].edits[0].name;
    const char *path = first && strncmp(first, ".nv.merc", 8) == 0 ? MERCURY : PROGRAM;
    OWNED(buffer) file = files_load(path);
    OWNED(buffer) messages = {0};
    bool ok;

    /* The last one first: names of sections go when the file header changes. */
    for (size_t i = COUNT(edited->edits); i-- > 0;)
        if (edited[_i].edits[i].place != NONE)
            make_edit(&file, &edited[_i].edits[i]);
    ok = read_quietly(buffer_bytes(&file), &messages);
    buffer_char(&messages, '\0');
    if (edited[_i].words)
        ck_assert_msg(!ok && strstr(messages.data, edited[_i].words), "expected '%s' in: %s",
                      edited[_i].words, messages.data);
    else
        ck_assert_msg(ok, "row %d: %s", _i, messages.data);
}

/* What is said of a cubin that has this many more sections, empty ones of this alignment. */
static const char *said_of_sections(uint16_t count, uint64_t alignment, struct buffer *said)
{
    const Elf64_Shdr added = {.sh_type = SHT_PROGBITS, .sh_addralign = alignment};
    OWNED(buffer) file = files_load(PROGRAM), longer = {0};
    Elf64_Ehdr *header = elf_of(&file);
    const char *headers = file.data + header->e_shoff;
    size_t size = header->e_shnum * sizeof added;

    header->e_shnum = (uint16_t)(header->e_shnum + count);
    header->e_shoff = file.size;
    buffer_append(&longer, file.data, file.size);
    buffer_append(&longer, headers, size);
    while (count-- > 0)
        buffer_append(&longer, (const char *)&added, sizeof added);
    said->size = 0;
    read_quietly(buffer_bytes(&longer), said);
    buffer_char(said, '\0');
    return said->data;
}

TEST(alignments_above_a_page_are_bounded_together)
{
    static const char words[] = "the alignments of its sections add up to more than 67108864";
    OWNED(buffer) said = {0};

    ck_assert_str_eq(said_of_sections(64, 1 << 20, &said), "");
    ck_assert_ptr_nonnull(strstr(said_of_sections(65, 1 << 20, &said), words));
    ck_assert_ptr_nonnull(strstr(said_of_sections(8193, 8192, &said), words));
    ck_assert_str_eq(said_of_sections(16385, 4096, &said), "");
}

TEST(one_long_prototype_is_not_read_for_each_of_many_calls)
{
    enum { LENGTH = 1 << 16, CALLS = 1 << 13 };
    OWNED(buffer) file = files_load(PROGRAM), longer = {0}, said = {0};
    const Elf64_Shdr *strings = files_header_of(&file, ".strtab");
    uint32_t pair[2] = {0, (uint32_t)CALLGRAPH_INDIRECT}, start = (uint32_t)file.size;

    buffer_append(&longer, file.data, file.size);
    buffer_append(&longer, file.data + strings->sh_offset, strings->sh_size);
    for (size_t i = 0; i < LENGTH; i++)
        buffer_char(&longer, i + 1 < LENGTH ? 'l' : '\0');
    files_header_of(&longer, ".strtab")->sh_offset = start;
    files_header_of(&longer, ".strtab")->sh_size = longer.size - start;
    buffer_align(&longer, 4);
    start = (uint32_t)longer.size;
    buffer_append(&longer, (const char *)pair, sizeof pair);
    memcpy(pair, file.data + files_header_of(&file, ".nv.callgraph")->sh_offset + 8, 4);
    pair[1] = (uint32_t)strings->sh_size;
    for (size_t i = 0; i < CALLS; i++)
        buffer_append(&longer, (const char *)pair, sizeof pair);
    files_header_of(&longer, ".nv.callgraph")->sh_offset = start;
    files_header_of(&longer, ".nv.callgraph")->sh_size = longer.size - start;
    ck_assert(!read_quietly(buffer_bytes(&longer), &said));
    buffer_char(&said, '\0');
    ck_assert_msg(strstr(said.data, "refers to string byte") != NULL, "%s", said.data);
}

static uint32_t find_symbol(const struct cubin *cubin, const char *name)
{
    for (uint32_t i = 1; i < cubin->symbol_count; i++)
        if (text_equal(cubin->symbols[i].name, text_of(name)) &&
            cubin->symbols[i].type != STT_SECTION)
            return i;
    return 0;
}

TEST(sections_know_their_functions)
{
    static const char *const names[] = {".text.k1", ".nv.info.k1", ".rela.text.k1",
                                        ".nv.constant0.k1"};
    OWNED(buffer) file = files_load(PROGRAM);
    OWNED(cubin) cubin;

    ck_assert(cubin_read(&cubin, "p", buffer_bytes(&file)));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t section = cubin_section_find(&cubin, text_of(names[i]));

        ck_assert_uint_ne(section, 0);
        ck_assert_uint_eq(cubin_section_function(&cubin, section), find_symbol(&cubin, "k1"));
    }
    ck_assert_uint_eq(
        cubin_section_function(&cubin, cubin_section_find(&cubin, TEXT(".nv.global.init"))), 0);
    ck_assert_uint_eq(cubin_section_find(&cubin, TEXT(".text.k9")), 0);
}

TEST(in_place_relocations_have_no_addend)
{
    OWNED(buffer) file = files_load("fixtures/cubin/program.sm_75.cubin");
    OWNED(cubin) cubin;
    const struct cubin_section *section;

    ck_assert(cubin_read(&cubin, "p", buffer_bytes(&file)));
    section = &cubin.sections[cubin_section_find(&cubin, TEXT(".rel.text.k1"))];
    ck_assert_uint_eq(section->type, SHT_REL);
    ck_assert_uint_gt(section->relocation_count, 0);
    for (size_t i = 0; i < section->relocation_count; i++)
        ck_assert_int_eq(section->relocations[i].addend, 0);
}

TEST(info_records_are_walked)
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
