/* check_used.c: which kernels and variables live: by the lists in host objects, by -kernels-used
 * and -variables-used, by -Xptxas -e. */
#include "input/used.h"
#include "made_inputs.h"
#include "suite.h"

static struct used_names used;

/* Adds an object with one section: kernels that it lists, as strings with NULs. */
static void add_object(const char *path, const char *section, const char *names, size_t size)
{
    inputs_add_object(path, &(struct object_section){section, {(const uint8_t *)names, size}}, 1);
}
#define ADD(path, section, names) add_object(path, section, names, sizeof names)

static void collect_with(const struct used_request *request)
{
    used_free(&used);
    ck_assert(used_collect(&used, &inputs, request));
}
#define COLLECT(...) collect_with(&(struct used_request){__VA_ARGS__})
#define PARTS(...)   ((const char *const[]){__VA_ARGS__, NULL})

static bool has(const char *kernel)
{
    return used_has_kernel(&used, text_of(kernel));
}

static bool has_variable(const char *variable)
{
    return used_has_variable(&used, text_of(variable));
}

void tear_down(void)
{
    used_free(&used);
    inputs_drop();
}

TEST(a_star_stands_for_any_characters)
{
    static const struct {
        const char *pattern, *name;
        bool is_used;
    } rows[] = {
        {"_Z1kv", "_Z1kv", true},    {"_Z1kv", "_Z1kvx", false},  {"_Z1kv", "_Z1k", false},
        {"_Z*v", "_Z1kv", true},     {"_Z*v", "_Zv", true},       {"_Z*v", "_Z1kvx", false},
        {"*", "anything", true},     {"*k*", "xkx", true},        {"*k*", "k", true},
        {"*k*", "x", false},         {"a*b*c", "abc", true},      {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "acb", false},     {"a**c", "ac", true},        {"a*aa", "aa", false},
        {"a*aa", "aaa", true},       {"*bab", "abab", true},      {"ab*ab", "ab", false},
        {"ab*ab*ab", "abab", false}, {"ab*ab*ab", "ababab", true}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add_object("a.o", ".nvHRKE", rows[i].pattern, strlen(rows[i].pattern) + 1);
        COLLECT(0);
        ck_assert_msg(has(rows[i].name) == rows[i].is_used, "'%s' and '%s'", rows[i].pattern,
                      rows[i].name);
        tear_down();
    }
}

TEST(the_lists_of_all_objects_count_whatever_stands_between_names)
{
    ADD("a.o", ".nvHRKE", "\0\0k1\0\0\0k2");
    ADD("b.o", ".nvHRKI", "local*");
    COLLECT(0);
    ck_assert(has("k1"));
    ck_assert(has("k2"));
    ck_assert(has("local_k3"));
    ck_assert(!has("k3"));
    ck_assert(!has(""));
}

TEST(lists_of_variables_keep_no_kernels_but_are_lists)
{
    ADD("a.o", ".nvHRKE", "k1");
    ADD("b.o", ".nvHRDE", "k2");
    COLLECT(0);
    ck_assert(has("k1"));
    ck_assert(!has("k2"));
}

TEST(variables_have_lists_of_their_own)
{
    static const char *const sections[] = {".nvHRCE", ".nvHRCI", ".nvHRDE", ".nvHRDI"};

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        ADD("a.o", ".nvHRKE", "k1");
        ADD("b.o", sections[i], "v1\0s*x");
        COLLECT(0);
        ck_assert(has_variable("v1"));
        ck_assert(has_variable("s_x"));
        ck_assert(!has_variable("v2"));
        ck_assert(!has_variable("k1"));
        ck_assert(!has("v1"));
        tear_down();
    }
}

/* libnvvm is told the names that host objects list, whatever other files bring. */
TEST(names_for_lto_need_the_lists_of_host_objects_only)
{
    ADD("a.o", ".nvHRKE", "k1");
    inputs_add("k.sm90.cubin", fixture_read(FIXTURES "k.sm90.cubin"));
    COLLECT(.is_lto = true);
    ck_assert(used.has_lists);
    ck_assert(!used.is_filter);
    ck_assert(has_variable("v"));
    tear_down();
    ADD("a.o", ".nvHRKE", "k1");
    ADD("b.o", ".text", "k2");
    COLLECT(.is_lto = true);
    ck_assert(!used.has_lists);
    ck_assert(!used.is_ignored);
}

TEST(what_lto_is_told_of_names_does_not_depend_on_other_files)
{
    ADD("a.o", ".nvHRKE", "k1");
    ADD("b.o", ".nvHRDE", "v1");
    inputs_add("k.sm90.cubin", fixture_read(FIXTURES "k.sm90.cubin"));
    COLLECT(.is_lto = true);
    ck_assert(has("k2") && has_variable("v2"));
    ck_assert(used_names_kernel(&used, TEXT("k1")) && !used_names_kernel(&used, TEXT("k2")));
    ck_assert(used_names_variable(&used, TEXT("v1")) && !used_names_variable(&used, TEXT("v2")));
    COLLECT(.kernels = PARTS("k"), .is_lto = true);
    ck_assert(!used_names_variable(&used, TEXT("v1")));
    COLLECT(.variables = PARTS("2"), .is_lto = true);
    ck_assert(!used_names_variable(&used, TEXT("v1")) && used_names_variable(&used, TEXT("v2")));
}

TEST(one_object_without_lists_keeps_everything)
{
    ADD("a.o", ".nvHRKE", "k1");
    ADD("b.o", ".text", "k2");
    COLLECT(0);
    ck_assert(has("k3"));
}

TEST(device_code_in_another_form_keeps_everything)
{
    static const char *const others[] = {"k.sm90.cubin", "a.ptx_sc2.fatbin", "a.ptx", "lib.a"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {

        ADD("a.o", ".nvHRKE", "k1");
        inputs_add(others[i], fixture_read(suite_print(FIXTURES "%s", others[i])));
        COLLECT(0);
        /* The archive's objects were compiled with lists: theirs count. */
        ck_assert_msg(has("k3") == (i < 3), "%s", others[i]);
        tear_down();
    }
}

TEST(the_lists_of_libcudadevrt_alone_drop_nothing)
{
    ADD("lib64/libcudadevrt.a", ".nvHRKE", "k1");
    COLLECT(0);
    ck_assert(has("k2"));
    tear_down();
    ADD("lib64/libcudadevrt.a", ".nvHRKE", "k1");
    ADD("a.o", ".nvHRKE", "k2");
    COLLECT(0);
    ck_assert(has("k1"));
    ck_assert(has("k2"));
    ck_assert(!has("k3"));
}

TEST(kernels_used_come_in_place_of_the_lists)
{
    ADD("a.o", ".nvHRKE", "k1");
    COLLECT(.kernels = PARTS("one,,two"));
    ck_assert(!has("k1"));
    ck_assert(has("kernel_one"));
    ck_assert(has("two"));
    tear_down();
    ADD("a.o", ".nvHRKE", "k1");
    COLLECT(.variables = PARTS("v"));
    ck_assert(!has("k1"));
    ck_assert(has_variable("kv1"));
    ck_assert(!has_variable("k1"));
}

TEST(variables_used_alone_keep_all_kernels_under_lto)
{
    ADD("a.o", ".nvHRKE", "k1");
    COLLECT(.variables = PARTS("v"), .is_lto = true);
    ck_assert(has("k2"));
    ck_assert(!has_variable("k1"));
    tear_down();
    COLLECT(.variables = PARTS("v"), .kernels = PARTS("k"), .is_lto = true);
    ck_assert(has("k2"));
    ck_assert(!has("other"));
}

TEST(host_info_can_be_ignored)
{
    ADD("a.o", ".nvHRKE", "k1");
    COLLECT(.ignore_host_info = true);
    ck_assert(has("k2"));
    ck_assert(has_variable("v"));
    ck_assert(used.is_ignored);
}

TEST(chosen_entries_are_a_choice_among_those_that_stay)
{
    const struct text entries[] = {TEXT("k1"), TEXT("k2")};

    ADD("a.o", ".nvHRKE", "k1\0k3");
    COLLECT(.entries = entries, .entry_count = 2);
    ck_assert(has("k1"));
    ck_assert(!has("k2"));
    ck_assert(!has("k3"));
}

TEST(a_damaged_object_is_an_error)
{
    ADD("a.o", ".nvHRKE", "k1");
    made_files[0].data.size -= 40;
    messages_catch();
    ck_assert(!used_collect(&used, &inputs, &(struct used_request){0}));
    messages_expect_part("a.o");
}
