/* Images: layout, segments, string tables and the bytes of the file. */
#include <dlfcn.h>
#include <libelf.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cubin/cubin.h"
#include "cubin/format.h"
#include "cubin/image.h"
#include "diag/diag.h"
#include "os/file.h"
#include "output/output.h"
#include "files.h"
#include "suite.h"

static bool write_image(const struct image *image, const char *path)
{
    struct output output;

    return output_open(&output, path) && image_append(image, &output) && output_commit(&output);
}

/* The file that libelf writes has the bytes that image_bytes() puts into memory. */
static void check_file(const struct image *image)
{
    char path[] = "/tmp/check_image.XXXXXX";
    OWNED(buffer) bytes = {0}, file;

    image_bytes(image, &bytes);
    ck_assert_uint_eq(bytes.size, image->file_size);
    ck_assert_int_ge(mkstemp(path), 0);
    ck_assert(write_image(image, path));
    file = files_load(path);
    unlink(path);
    ck_assert_uint_eq(file.size, bytes.size);
    ck_assert_int_eq(memcmp(file.data, bytes.data, bytes.size), 0);
}

/* These stand in front of libelf's and libc's. Where that is wanted, the first update is refused,
 * as a future libelf may, and of contents only a part is written, as a filling disk may. */
static bool is_strict, is_short;
static unsigned updates, writes;

int64_t elf_update(Elf *elf, Elf_Cmd command)
{
    int64_t (*real)(Elf *, Elf_Cmd);

    if (updates++ == 0 && is_strict)
        return -1;
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "elf_update");
    return real(elf, command);
}

ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset)
{
    struct iovec first = {vectors->iov_base, (vectors->iov_len + 1) / 2};
    ssize_t (*real)(int, const struct iovec *, int, off_t);

    writes++;
    *(void **)(void *)&real = dlsym(RTLD_NEXT, "pwritev");
    return is_short ? real(fd, &first, 1, offset) : real(fd, vectors, count, offset);
}

/* Offset of a name in a string table, where it begins a string. */
static uint32_t find_name(struct bytes table, struct text name)
{
    for (size_t i = 0; i + name.size < table.size; i++)
        if ((i == 0 || table.data[i - 1] == '\0') && table.data[i + name.size] == '\0' &&
            memcmp(table.data + i, name.data, name.size) == 0)
            return (uint32_t)i;
    ck_abort_msg("no name %.*s", TEXT_ARG(name));
}

/* An executable of nvlink's comes out byte for byte when its sections are laid out again. */
TEST(layout_of_an_executable_is_nvlinks)
{
    OWNED(buffer) file = files_load("fixtures/cubin/linked.sm_90.cubin");
    OWNED(buffer) written = {0};
    OWNED(cubin) cubin;
    OWNED(image) image;

    ck_assert(cubin_read(&cubin, "linked", buffer_bytes(&file)));
    image_begin(&image, cubin.type, cubin.flags);
    for (size_t i = 1; i < cubin.section_count; i++) {
        const struct cubin_section *s = &cubin.sections[i];

        image_add_section(&image, &(struct image_section){
                                      .name = s->name,
                                      .type = s->type,
                                      .link = s->link,
                                      .info = s->info,
                                      .flags = s->flags,
                                      .alignment = s->alignment,
                                      .entry_size = s->entry_size,
                                      .size = s->size,
                                      .has_no_bytes = s->has_no_bytes,
                                      .data = s->data.data,
                                      .name_offset = find_name(cubin.sections[1].data, s->name)});
    }
    image_layout(&image);
    image_bytes(&image, &written);
    ck_assert_uint_eq(written.size, file.size);
    ck_assert_int_eq(memcmp(written.data, file.data, file.size), 0);
}

/* Begins an image with .shstrtab. */
static void begin(struct image *image, uint16_t type, uint32_t flags)
{
    image_begin(image, type, flags);
    image_add_section(image, &(struct image_section){
                                 .name = TEXT(".shstrtab"), .type = SHT_STRTAB, .alignment = 1});
}

/* Adds a section to change further; without data it has no contents. */
static struct image_section *add(struct image *image, const char *name, uint32_t type,
                                 uint64_t flags, uint64_t alignment, uint64_t size,
                                 const void *data)
{
    uint32_t index = image_add_section(image, &(struct image_section){.name = text_of(name),
                                                                      .type = type,
                                                                      .flags = flags,
                                                                      .alignment = alignment,
                                                                      .size = size,
                                                                      .has_no_bytes = !data,
                                                                      .data = data});

    return &image->sections[index];
}

static void finish(struct image *image)
{
    image_set_section_names(image, 1, NULL);
    image_layout(image);
}

/* Text, writable data with and without contents, constants. */
static void make_sections(struct image *image, uint32_t flags)
{
    static const char bytes[300];

    begin(image, ET_EXEC, flags);
    add(image, ".text.k", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 128, 256, bytes);
    add(image, ".nv.global.init", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, 12, bytes);
    add(image, ".nv.global", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 16, 100, NULL);
    add(image, ".nv.constant0.k", SHT_PROGBITS, SHF_ALLOC, 4, 40, bytes);
    finish(image);
}

TEST(segments_from_sm_100_on_part_code_and_constants)
{
    static const uint32_t flags[] = {PF_R, PF_R, PF_R | PF_X, PF_R | PF_W, PF_R};
    OWNED(image) image;

    make_sections(&image, 0x6402);
    ck_assert_uint_eq(image.segment_count, 5);
    ck_assert_uint_eq(image.segments[0].p_type, PT_PHDR);
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(image.segments[i].p_flags, flags[i]);
    ck_assert_uint_eq(image.segments[2].p_filesz, 256);
    /* The data, padding to the section without contents, and in memory that one too. */
    ck_assert_uint_eq(image.segments[3].p_filesz, 16);
    ck_assert_uint_eq(image.segments[3].p_memsz, 116);
    ck_assert_uint_eq(image.segments[4].p_filesz, 40);
}

TEST(segments_up_to_sm_90_are_read_only_and_writable)
{
    OWNED(image) image;

    make_sections(&image, 0x5a04);
    ck_assert_uint_eq(image.segment_count, 4);
    ck_assert_uint_eq(image.segments[1].p_flags, PF_R | PF_X);
    ck_assert_uint_eq(image.segments[1].p_offset, image.sections[2].offset);
    ck_assert_uint_eq(image.segments[2].p_flags, PF_R | PF_W);
    ck_assert_uint_eq(image.segments[3].p_offset, image.program_header_offset);
    ck_assert_uint_eq(image.file_size, image.program_header_offset + 4 * sizeof(Elf64_Phdr));
}

TEST(sections_without_contents_take_no_room)
{
    OWNED(buffer) bytes = {0};
    OWNED(image) image;

    begin(&image, ET_REL, 0x5a04);
    add(&image, ".nv.shared.k", SHT_CUDA_SHARED, 0, 16, 1u << 20, NULL);
    finish(&image);
    ck_assert_uint_eq(image.segment_count, 0);
    image_bytes(&image, &bytes);
    ck_assert_uint_eq(bytes.size, image.file_size);
    ck_assert_uint_lt(bytes.size, 400);
}

/* Beyond 65279 sections their number stands in the null section, and the indices of symbols'
 * sections in a table of their own. */
TEST(seventy_thousand_sections_are_written_and_read)
{
    static const uint32_t places[] = {SHN_UNDEF,     5,     SHN_LORESERVE - 1,
                                      SHN_LORESERVE, 70000, SECTION_ABSOLUTE};
    struct image_symbol symbols[COUNT(places)] = {{.name = {0}}};
    struct image_strings strings = {0};
    OWNED(buffer) bytes = {0};
    OWNED(cubin) cubin;
    OWNED(image) image;

    begin(&image, ET_REL, 0x5a04);
    for (int i = 2; i <= 70000; i++)
        add(&image, ".x", SHT_PROGBITS, 0, 4, 4, "abc");
    image.sections[2].type = SHT_SYMTAB;
    image.sections[2].alignment = 8;
    image.sections[2].link = 3;
    image.sections[3].type = SHT_STRTAB;
    image.sections[3].alignment = 1;
    for (size_t i = 1; i < COUNT(places); i++)
        symbols[i] = (struct image_symbol){
            .name = TEXT("s"), .type = STT_OBJECT, .binding = STB_GLOBAL, .section = places[i]};
    image_set_symbols(&image, 2, symbols, COUNT(places), &strings);
    image_take_strings(&image, 3, &strings.bytes);
    image_strings_free(&strings);
    finish(&image);
    check_file(&image);
    image_bytes(&image, &bytes);
    ck_assert(cubin_read(&cubin, "many", buffer_bytes(&bytes)));
    ck_assert_uint_eq(cubin.section_count, 70002);
    ck_assert(text_equal(cubin.sections[70000].name, TEXT(".x")));
    ck_assert_int_eq(memcmp(cubin.sections[70000].data.data, "abc", 4), 0);
    ck_assert_int_eq(cubin.sections[70001].type, SHT_SYMTAB_SHNDX);
    ck_assert_uint_eq(cubin.sections[70001].size, COUNT(places) * sizeof(Elf32_Word));
    for (uint32_t i = 1; i < COUNT(places); i++)
        ck_assert_uint_eq(cubin.symbols[i].section, places[i]);
}

TEST(strings_are_kept_once)
{
    OWNED(image_strings) strings = {0};

    ck_assert_uint_eq(image_string(&strings, TEXT("")), 0);
    ck_assert_uint_eq(image_string(&strings, TEXT("a")), 1);
    ck_assert_uint_eq(image_string(&strings, TEXT("bc")), 3);
    ck_assert_uint_eq(image_string(&strings, TEXT("a")), 1);
    ck_assert_uint_eq(strings.bytes.size, 6);
    ck_assert_int_eq(memcmp(strings.bytes.data, "\0a\0bc\0", 6), 0);
}

TEST(symbols_are_encoded_with_the_first_global)
{
    static const struct image_symbol symbols[] = {
        {.name = {0}},
        {.name = {"l", 1}, .type = STT_FUNC, .binding = STB_LOCAL, .section = 1},
        {.name = {"w", 1}, .type = STT_OBJECT, .binding = STB_WEAK, .size = 8},
        {.name = {"g", 1}, .type = STT_FUNC, .binding = STB_GLOBAL, .other = 0x10, .value = 4},
    };
    OWNED(image_strings) strings = {0};
    const Elf64_Sym *encoded;
    OWNED(image) image;

    image_begin(&image, ET_REL, 0);
    image_add_section(&image, &(struct image_section){.type = SHT_SYMTAB, .alignment = 8});
    image_set_symbols(&image, 1, symbols, 4, &strings);
    encoded = image.sections[1].data;
    ck_assert_uint_eq(image.sections[1].size, 4 * sizeof *encoded);
    ck_assert_uint_eq(image.sections[1].info, 3);
    ck_assert_uint_eq(encoded[3].st_name, 5);
    ck_assert_uint_eq(encoded[3].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
    ck_assert_uint_eq(encoded[3].st_other, 0x10);
    ck_assert_uint_eq(encoded[3].st_value, 4);
}

TEST(a_file_that_cannot_be_written_is_an_error)
{
    OWNED(diag_sink) sink = {0};
    OWNED(image) image;

    make_sections(&image, 0x5a04);
    diag_state_get()->sink = &sink;
    ck_assert(!write_image(&image, "/nonexistent/out.cubin"));
    diag_state_get()->sink = NULL;
    ck_assert_uint_eq(sink.errors, 1);
}

/* Contents of all sizes, so that they and the gaps between them cross the borders of what is handed
 * to the kernel at once; one section has no data, and is zeros. */
TEST(a_large_file_has_the_bytes_of_the_image)
{
    static uint8_t contents[700000];
    OWNED(buffer) bytes = {0};
    OWNED(image) image;

    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (uint8_t)(i * 7 + i / 251 + 1);
    begin(&image, ET_REL, 0x5a04);
    for (uint64_t i = 0; i < 300; i++)
        add(&image, ".x", SHT_PROGBITS, 0, UINT64_C(1) << i % 15, i == 7 ? 690000 : i * 97 % 5000,
            i == 9 ? NULL : contents + i)
            ->has_no_bytes = false;
    finish(&image);
    image_bytes(&image, &bytes);
    ck_assert_uint_eq(bytes.size, image.file_size);
    for (size_t i = 1; i < image.section_count; i++) {
        const struct image_section *section = &image.sections[i];
        const char *at = bytes.data + section->offset;

        if (section->data)
            ck_assert_int_eq(memcmp(at, section->data, section->size), 0);
        for (size_t k = 0; !section->data && k < section->size; k++)
            ck_assert_int_eq(at[k], 0);
    }
    check_file(&image);
}

/* libelf knows neither that NVIDIA's sections of shared memory take no room, nor the form of CUDA
 * 12, nor program headers behind the sections, and has a meaning of its own for a section's flag.
 */
TEST(a_file_has_what_libelf_would_write_otherwise)
{
    static const uint32_t toolkits[] = {0, 129};
    static const uint16_t types[] = {ET_REL, ET_EXEC};

    for (size_t i = 0; i < 4; i++) {
        OWNED(image) image;

        begin(&image, types[i / 2], 0x5a04);
        image.toolkit = toolkits[i % 2];
        add(&image, ".text.k", SHT_PROGBITS, SHF_ALLOC | SHF_COMPRESSED, 128, 16, "0123456789abcde")
            ->entry_size = 3;
        add(&image, ".nv.shared.k", SHT_CUDA_SHARED, 0, 16, 1u << 20, NULL);
        add(&image, ".twin", SHT_PROGBITS, 0, 128, 16, "0123456789abcde")->shares = 2;
        finish(&image);
        check_file(&image);
    }
}

static sigjmp_buf caught;

/* The jump leaves behind what the writer holds, which a checker of leaks finds. */
#ifdef __SANITIZE_ADDRESS__
#define JUMPS 0
#else
#define JUMPS 2
#endif

static void catch_bus(int number)
{
    siglongjmp(caught, number);
}

/* The link's handler of SIGBUS says which input has become shorter; that the output cannot be
 * written would be no help. Contents of a page or less, and of two, whose first may be there. */
TEST_LOOP(contents_that_have_gone_are_a_signal, JUMPS)
{
    char input[] = "/tmp/check_image.XXXXXX", path[] = "/tmp/check_image.XXXXXX";
    struct sigaction action = {.sa_handler = catch_bus};
    int fd = mkstemp(input);
    struct image image;
    void *mapped;

    ck_assert_int_eq(ftruncate(fd, 8192), 0);
    mapped = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert(mapped != MAP_FAILED);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    unlink(input);
    make_sections(&image, 0x5a04);
    image.sections[image.section_count - 1].data = mapped;
    image.sections[image.section_count - 1].size = _i ? 8192 : 16;
    image.sections[image.section_count - 1].has_no_bytes = false;
    image_layout(&image);
    close(mkstemp(path));
    sigaction(SIGBUS, &action, NULL);
    if (sigsetjmp(caught, 1) == 0) {
        write_image(&image, path);
        ck_abort_msg("written");
    }
    leftover_remove_all();
    unlink(path);
    munmap(mapped, 8192);
    close(fd);
}

/* Contents go in runs, with the gaps between them; where libelf refuses headers the file is written
 * without it. */
TEST(contents_are_written_in_runs)
{
    static const char text[] = "contents of a section";

    for (int way = 0; way < 3; way++) {
        OWNED(image) image;

        begin(&image, ET_REL, 0x5a04);
        for (uint64_t i = 0; i < 2000; i++)
            add(&image, ".x", i % 9 == 5 ? SHT_NOBITS : SHT_PROGBITS, 0, UINT64_C(1) << i % 9,
                i % sizeof text, i % 7 == 3 ? NULL : text)
                ->has_no_bytes = i % 9 == 5;
        finish(&image);
        is_strict = way == 1;
        is_short = way == 2;
        updates = writes = 0;
        check_file(&image);
        ck_assert_uint_eq(updates, 1);
        ck_assert(is_short ? writes > 2000 : writes < 10);
    }
    is_strict = is_short = false;
}
