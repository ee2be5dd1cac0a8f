/* check_file.c: opening operands and telling what they are. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/file.h"
#include "input_fixture.h"
#include "suite.h"

static const struct {
    const char *file;
    enum file_kind kind;
} fixtures[] = {
    {"a.lto.o", FILE_HOST_OBJECT},
    {"c.wholeprog.o", FILE_HOST_OBJECT},
    {"hostonly.o", FILE_HOST_OBJECT},
    {"bad.trunc4000.o", FILE_HOST_OBJECT},
    {"b.pie", FILE_HOST_OBJECT},
    {"shared.so", FILE_SHARED_OBJECT},
    {"lib.a", FILE_ARCHIVE},
    {"a.lto.fatbin", FILE_FATBIN},
    {"empty.fatbin", FILE_FATBIN},
    {"bad.trunc10.fatbin", FILE_FATBIN},
    {"bad.magic.fatbin", FILE_UNKNOWN},
    {"k.sm90.cubin", FILE_CUBIN},
    {"a.ptx", FILE_PTX},
    {"bad.empty.o", FILE_EMPTY},
    {"bad.one.o", FILE_TEXT},
};

TEST_LOOP(a_file_is_classified_by_its_content, COUNT(fixtures))
{
    struct bytes data;

    data = fixture_read(suite_print(FIXTURES "%s", fixtures[_i].file));
    ck_assert_int_eq(file_classify(data), fixtures[_i].kind);
    ck_assert_uint_gt(strlen(file_kind_name(fixtures[_i].kind)), 0);
}

static const struct {
    const char *content;
    enum file_kind kind;
} contents[] = {
    {"// comment\n/* more */ \t\n.version 8.0\n.target sm_90\n", FILE_PTX},
    {".version\t8.0", FILE_PTX},
    {".versions", FILE_TEXT},
    {".version", FILE_TEXT},
    {".target sm_90\n.version 8.0\n", FILE_TEXT},
    {"/* unfinished .version 8.0", FILE_TEXT},
    {"/", FILE_TEXT},
    {"//", FILE_TEXT},
    {"/*/ .version 8.0", FILE_TEXT},
    {"/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/libm.so.6 )\n", FILE_SCRIPT},
    {"INPUT(-lncurses)", FILE_SCRIPT},
    {"\177TileIR", FILE_TILE},
    {"\177TileI", FILE_UNKNOWN},
    {"!<thin>\n", FILE_ARCHIVE},
    {"!<arch>\n", FILE_ARCHIVE},
    {"!<arch>", FILE_TEXT},
    {"\x50\xed\x55\xba", FILE_FATBIN},
    {"\x50\xed\x55", FILE_TEXT},
    {"\xed\x43\x4e\x7f", FILE_LTOIR},
    {"\x7f"
     "ELF",
     FILE_HOST_OBJECT},
    {"\x7f"
     "EL",
     FILE_UNKNOWN},
    {"\x01\x02", FILE_UNKNOWN},
};

TEST_LOOP(short_and_odd_contents_are_classified, COUNT(contents))
{
    const char *text = contents[_i].content;
    struct bytes data =
        fixture_exact((struct bytes){(const uint8_t *)text, strlen(text)}, strlen(text));

    ck_assert_int_eq(file_classify(data), contents[_i].kind);
    fixture_free(data);
}

TEST_LOOP(no_truncation_is_read_beyond, 4)
{
    static const char *const files[] = {FIXTURES "b.pie", FIXTURES "k.sm90.cubin", FIXTURES "a.ptx",
                                        FIXTURES "shared.so"};
    struct bytes data = fixture_read(files[_i]);

    for (size_t size = 0; size < data.size; size += size < 1100 ? 1 : 97) {
        struct bytes cut = fixture_exact(data, size);

        file_classify(cut);
        fixture_free(cut);
    }
}

static struct inputs inputs;

/* Opens operands; the messages must be `expected`. */
static bool open_into(struct inputs *into, const struct input_operand *operands, size_t count,
                      const struct library_search *search, const char *expected)
{
    bool ok;

    messages_catch();
    ok = inputs_open(into, operands, count, search);
    messages_expect(expected);
    return ok;
}

static bool open_all(const struct input_operand *operands, size_t count, const char *expected)
{
    return open_into(&inputs, operands, count, NULL, expected);
}

static bool open_one(const char *path)
{
    return open_all(&(struct input_operand){.name = path}, 1, "");
}

TEST(operands_are_mapped_in_order_and_may_repeat)
{
    static const struct input_operand operands[] = {
        {.name = FIXTURES "a.ptx"}, {.name = FIXTURES "bad.empty.o"}, {.name = FIXTURES "a.ptx"}};

    ck_assert(open_all(operands, 3, ""));
    ck_assert_uint_eq(inputs.count, 3);
    ck_assert_str_eq(inputs.files[0].path, FIXTURES "a.ptx");
    ck_assert_int_eq(inputs.files[0].kind, FILE_PTX);
    ck_assert_uint_eq(inputs.files[0].data.size, 1772);
    ck_assert_int_eq(inputs.files[1].kind, FILE_EMPTY);
    ck_assert_ptr_ne(inputs.files[0].data.data, inputs.files[2].data.data);
    inputs_close(&inputs);
    ck_assert_uint_eq(inputs.count, 0);
    inputs_close(&inputs);
}

static bool is_mapped(const void *address)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char state;

    return mincore((void *)((uintptr_t)address & -page), 1, &state) == 0;
}

TEST(nothing_but_its_own_files_is_unmapped)
{
    static const struct input_operand operands[] = {{.name = FIXTURES "a.ptx"},
                                                    {.name = FIXTURES "a.lto.o"},
                                                    {.name = FIXTURES "k.sm90.cubin"},
                                                    {.name = FIXTURES "a.ptx"}};
    struct inputs others = {0};
    const uint8_t *data[8];

    for (unsigned i = 0; i < 2; i++) {
        ck_assert(open_all(operands, 4, ""));
        ck_assert(open_into(&others, operands, 2, NULL, ""));
    }
    ck_assert_uint_eq(inputs.count, COUNT(data));
    for (size_t i = 0; i < COUNT(data); i++) {
        /* What has just been written is not mapped. */
        data[i] = inputs.files[i].is_mapped ? inputs.files[i].data.data : NULL;
        ck_assert(!data[i] || is_mapped(data[i]));
    }
    inputs_close(&inputs);
    for (size_t i = 0; i < COUNT(data); i++)
        ck_assert(!data[i] || !is_mapped(data[i]));
    for (size_t i = 0; i < others.count; i++)
        ck_assert_int_eq(file_classify(others.files[i].data), others.files[i].kind);
    inputs_close(&others);
}

TEST(every_file_that_cannot_be_opened_is_reported)
{
    static const struct input_operand operands[] = {{.name = "no/such.o"},
                                                    {.name = "fixtures"},
                                                    {.name = FIXTURES "a.ptx"},
                                                    {.name = "gone.o"}};

    ck_assert(!open_all(operands, 4,
                        "minilink fatal   : Could not open input file 'no/such.o': No such file or "
                        "directory\n"
                        "minilink fatal   : Could not open input file 'fixtures': Is a directory\n"
                        "minilink fatal   : Could not open input file 'gone.o': No such file or "
                        "directory\n"));
    ck_assert_uint_eq(inputs.count, 1);
}

/* A folder with libraries: libone.a (PTX will do), libboth.a, libboth.so, libtwo.so, and a folder
 * libdir.a. */
static char library_folder[sizeof "/tmp/minilink-check-XXXXXX"];

static void make_file(const char *name)
{
    files_save(suite_print("%s/%s", library_folder, name), ".version 8.0\n", 13);
}

void set_up(void)
{
    strcpy(library_folder, "/tmp/minilink-check-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(library_folder));
    make_file("libone.a");
    make_file("libboth.a");
    make_file("libboth.so");
    make_file("libtwo.so");
    ck_assert_int_eq(mkdir(suite_print("%s/libdir.a", library_folder), 0700), 0);
}

void tear_down(void)
{
    files_remove_folder(library_folder);
    inputs_close(&inputs);
}

TEST(libraries_are_found_in_the_paths_in_order)
{
    static const struct input_operand operands[] = {{.name = "one", .is_library = true},
                                                    {.name = ":libtwo.so", .is_library = true},
                                                    {.name = "two", .is_library = true},
                                                    {.name = "both", .is_library = true},
                                                    {.name = "m", .is_library = true}};
    const char *paths[] = {"no-such-folder", FIXTURES, library_folder};

    ck_assert(
        open_into(&inputs, operands, 5, &(struct library_search){.paths = paths, .count = 3}, ""));
    ck_assert_uint_eq(inputs.count, 2);
    ck_assert_str_eq(inputs.files[0].path, suite_print("%s/libone.a", library_folder));
    ck_assert_str_eq(inputs.files[0].library, "one");
    ck_assert_str_eq(inputs.files[1].path, suite_print("%s/libtwo.so", library_folder));
}

TEST(a_shared_library_is_passed_over_with_an_info_under_v)
{
    const char *paths[] = {library_folder};
    char expected[300];

    diag_state_get()->verbose = 2;
    snprintf(
        expected, sizeof expected,
        "minilink info    : Library 'two' is ignored: '%s/libtwo.so' is a shared object, which "
        "has no code to link\n",
        library_folder);
    ck_assert(open_into(&inputs, &(struct input_operand){.name = "two", .is_library = true}, 1,
                        &(struct library_search){.paths = paths, .count = 1}, expected));
}

TEST(a_missing_library_is_an_error_with_the_paths_tried)
{
    static const struct input_operand operands[] = {{.name = "nope", .is_library = true},
                                                    {.name = ":exact.a", .is_library = true}};
    const char *paths[] = {"one", "two/x"};

    ck_assert(!open_into(&inputs, operands, 2, &(struct library_search){.paths = paths, .count = 2},
                         "minilink error   : Library file 'nope' not found in paths\n"
                         "minilink note    : tried 'one/libnope.a'\n"
                         "minilink note    : tried 'two/x/libnope.a'\n"
                         "minilink error   : Library file ':exact.a' not found in paths\n"
                         "minilink note    : tried 'one/exact.a'\n"
                         "minilink note    : tried 'two/x/exact.a'\n"));
    ck_assert(!open_all(operands, 1,
                        "minilink error   : Library file 'nope' not found in paths\n"
                        "minilink note    : no library paths were given (-L)\n"));
}

/* What nvcc hands on: all libraries of the program, which only the host's linker knows to find. */
TEST(a_missing_library_is_passed_over_where_nvcc_made_the_command_line)
{
    static const struct input_operand operands[] = {{.name = "nope", .is_library = true},
                                                    {.name = ":exact.a", .is_library = true},
                                                    {.name = "dir", .is_library = true},
                                                    {.name = "one", .is_library = true}};
    const char *paths[] = {library_folder};
    const struct library_search search = {paths, 1, true};

    ck_assert(open_into(&inputs, operands, 4, &search, ""));
    ck_assert_uint_eq(inputs.count, 1);
    ck_assert_str_eq(inputs.files[0].library, "one");
    diag_state_get()->verbose = 2;
    ck_assert(open_into(&inputs, operands, 1, &search,
                        "minilink info    : Library 'nope' is ignored: it is not in the library "
                        "paths, as libraries of the host are, which have no code to link\n"));
}

TEST(a_missing_operand_is_an_error_also_where_nvcc_made_the_command_line)
{
    static const struct input_operand operands[] = {{.name = "gone.o"}};
    const struct library_search search = {.from_compiler = true};

    ck_assert(!open_into(&inputs, operands, 1, &search,
                         "minilink fatal   : Could not open input file 'gone.o': No such file or "
                         "directory\n"));
}

TEST(a_pipe_is_read_to_its_end)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], ".version 8.0\n", 13), 13);
    close(ends[1]);
    ck_assert(open_one(suite_print("/dev/fd/%d", ends[0])));
    ck_assert_int_eq(inputs.files[0].kind, FILE_PTX);
    ck_assert_uint_eq(inputs.files[0].data.size, 13);
    ck_assert(!inputs.files[0].is_mapped);
    close(ends[0]);
}

TEST(a_file_that_says_it_is_empty_is_read_to_its_end)
{
    ck_assert(open_one("/proc/self/status"));
    ck_assert_int_eq(inputs.files[0].kind, FILE_TEXT);
    ck_assert_uint_gt(inputs.files[0].data.size, 100);
    ck_assert(!inputs.files[0].is_mapped);
}

TEST(a_file_that_cannot_be_mapped_is_read_to_its_end)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";

    if (access(path, R_OK))
        return;
    /* Its times are those of its first use, so that it may be old or new. Not everybody can set
     * them. */
    for (int is_new = 0; is_new < 2; is_new++) {
        (void)!utimensat(AT_FDCWD, path, is_new ? NULL : long_ago, 0);
        ck_assert(open_one(path));
        ck_assert_int_eq(inputs.files[0].kind, FILE_TEXT);
        inputs_close(&inputs);
    }
}

/* More than a process may have mappings. */
TEST(very_many_files_are_opened)
{
    enum { MANY = 70000 };
    FREED struct input_operand *operands = calloc(MANY, sizeof *operands);

    ck_assert_ptr_nonnull(operands);
    for (size_t i = 0; i < MANY; i++)
        operands[i].name = FIXTURES "a.ptx";
    ck_assert(open_all(operands, MANY, ""));
    ck_assert_uint_eq(inputs.count, MANY);
    for (size_t i = 1; i < MANY; i++) {
        ck_assert_uint_eq(inputs.files[i].data.size, inputs.files[0].data.size);
        ck_assert_int_eq(memcmp(inputs.files[i].data.data, inputs.files[0].data.data, 100), 0);
    }
    ck_assert(!inputs.files[MANY - 1].is_mapped);
}
