/* check_modules.c: the ids of linked objects for -register-link-binaries. */
#include <unistd.h>

#include "input/used.h"
#include "made_inputs.h"
#include "suite.h"

/* An object with those ids, which are strings with NULs, and device code or none. */
static void add_object(const char *path, const char *ids, size_t size, bool has_code)
{
    struct object_section sections[] = {
        {"__nv_relfatbin", {(const uint8_t *)"code", has_code ? 4 : 0}},
        {"__nv_module_id", {(const uint8_t *)ids, size}},
    };

    inputs_add_object(path, sections, 2);
}
#define ADD(path, ids) add_object(path, ids, sizeof ids, true)

static void expect(bool without_system, const char *expected)
{
    OWNED(buffer) list = {0};

    ck_assert(modules_list(&list, &inputs, NULL, without_system, false));
    buffer_char(&list, '\0');
    ck_assert_str_eq(list.data, expected);
}

static void expect_error(const char *message)
{
    struct buffer list = {0};

    messages_catch();
    ck_assert(!modules_list(&list, &inputs, NULL, false, false));
    ck_assert_uint_eq(list.size, 0);
    messages_expect_part(message);
}

void tear_down(void)
{
    inputs_drop();
}

TEST(nothing_gives_an_empty_list)
{
    expect(false, "#define NUM_PRELINKED_OBJECTS 0\n");
}

TEST(the_first_id_of_each_comes_in_order_and_the_rest_last_first)
{
    ADD("a.o", "_1_a\0\0\0_2_b\0_3_c");
    ADD("b.o", "_4_d\0_5_e");
    expect(false, "#define NUM_PRELINKED_OBJECTS 5\nDEFINE_REGISTER_FUNC(_1_a)\n"
                  "DEFINE_REGISTER_FUNC(_4_d)\nDEFINE_REGISTER_FUNC(_5_e)\n"
                  "DEFINE_REGISTER_FUNC(_3_c)\nDEFINE_REGISTER_FUNC(_2_b)\n");
}

TEST(ids_that_an_object_registers_are_left_out_wherever_it_stands)
{
    ADD("a.o", "_1_a\0_2_b");
    ADD("b.o", "def _1_a\0def _7");
    expect(false, "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(_2_b)\n");
}

TEST(an_object_without_device_code_is_not_listed)
{
    add_object("a.o", "_1_a", sizeof "_1_a", false);
    ADD("b.o", "_2_b");
    expect(false, "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(_2_b)\n");
}

TEST(a_file_of_device_code_has_its_path_as_id)
{
    char folder[512], expected[1024], *c;

    inputs_add("/tmp/x-1/k.cubin", fixture_read(FIXTURES "k.sm90.cubin"));
    expect(false, "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(_tmp_x_1_k_cubin)\n");
    tear_down();
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    inputs_add("d/a.fatbin", fixture_read(FIXTURES "a.ptx_sc2.fatbin"));
    snprintf(expected, sizeof expected,
             "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(%s/d/a.fatbin)\n", folder);
    for (c = strchr(expected, '('); *++c != ')';)
        if (*c == '/' || *c == '.' || *c == '-')
            *c = '_';
    expect(false, expected);
    tear_down();
    /* Measured: under another name it has none. */
    inputs_add("k.o", fixture_read(FIXTURES "k.sm90.cubin"));
    expect(false, "#define NUM_PRELINKED_OBJECTS 0\n");
}

TEST(the_toolkits_library_is_listed_only_when_asked)
{
    ADD("lib/libcudadevrt.a", "_1_a");
    expect(false, "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(_1_a)\n");
    expect(true, "#define NUM_PRELINKED_OBJECTS 0\n");
}

TEST(archives_are_walked)
{
    OWNED(buffer) list = {0};

    inputs_add("lib.a", fixture_read(FIXTURES "lib.a"));
    ck_assert(modules_list(&list, &inputs, NULL, false, false));
    ck_assert(text_starts(buffer_view(&list), TEXT("#define NUM_PRELINKED_OBJECTS 2\n")));
    made_files[0].data.size -= 7;
    expect_error("lib.a");
}

TEST(an_id_may_be_any_c_identifier)
{
    ADD("a.o", "_1_$a_\xc3\xa9");
    expect(false, "#define NUM_PRELINKED_OBJECTS 1\nDEFINE_REGISTER_FUNC(_1_$a_\xc3\xa9)\n");
}

TEST(an_id_that_is_no_identifier_is_an_error)
{
    ADD("a.o", "x) system(\"ls\"");
    expect_error("'x) system(\"ls\"' is no module id");
    tear_down();
    ADD("a.o", "def ");
    expect_error("'' is no module id");
}

TEST(a_damaged_object_is_an_error)
{
    ADD("a.o", "_1_a");
    made_files[0].data.size -= 40;
    expect_error("a.o");
}
