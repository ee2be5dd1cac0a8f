/* check_symbol_names.c: names as a person writes them, in bounded memory and time. */
#include "diag/symbol_names.h"

#include "base/memory.h"
#include "suite.h"

static struct arena arena;

void set_up(void)
{
    arena = (struct arena){0};
}

void tear_down(void)
{
    arena_free(&arena);
}

/* Each test runs once, or not at all. */
static int has_demangler(void)
{
    struct text probe = TEXT("_Z1fv");
    bool found;

    set_up();
    symbol_names_demangle(&probe, 1, &arena);
    found = text_equal(probe, TEXT("f()"));
    tear_down();
    if (!found)
        fprintf(stderr, "check_symbol_names: SKIPPED: this system has no demangler\n");
    return found;
}

/* f(a, b<a, a>, c<b<a, a>, b<a, a>>, ...): each type twice the one before it. */
static struct text growing_name(unsigned levels)
{
    struct buffer name = {0};

    buffer_string(&name, "_Z1f1a1bIS_S_E");
    for (unsigned i = 1; i < levels; i++) {
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        unsigned last = 2 * i - 1; /* S1_ = b<a, a>, S3_, S5_ ... */
        char number[3] = {digits[last / 36], digits[last % 36], '\0'};
        const char *shown = last < 36 ? number + 1 : number;

        buffer_printf(&name, "1cIS%s_S%s_E", shown, shown);
    }
    return buffer_view(&name);
}

TEST(a_module_name_that_is_cut_off_leaves_the_name)
{
    ck_assert(text_equal(symbol_names_part(TEXT("__nv_static_3__ab_k")), TEXT("k")));
    ck_assert(
        text_equal(symbol_names_part(TEXT("__nv_static_3__ab_")), TEXT("__nv_static_3__ab_")));
}

TEST_LOOP(names_are_shown_as_nvlink_shows_them, has_demangler())
{
    struct text names[] = {
        TEXT("_Z2k1Pi"),        TEXT("plain"),
        TEXT("_ZN1CD0Ev"),      TEXT("__nv_static_51__29_a_cpp1_ii_fc93d7bd__Z2k3PPKc"),
        TEXT("_Zbroken"),       {0},
        TEXT("_Z1f1a1bIS_S_E"), TEXT("__nv_static_24__a5f7a35f_5_o2_cu__Z2d1v__Z2s1Pi"),
    };
    const char *expected[] = {"k1(int *)", "plain", "C::~C() [deleting]", "k3(char const **)",
                              "_Zbroken",  "",      "f(a, b<a, a>)",      "s1(int *)"};

    symbol_names_demangle(names, 8, &arena);
    for (size_t i = 0; i < 8; i++)
        ck_assert_msg(text_equal(names[i], text_of(expected[i])), "%.*s", TEXT_ARG(names[i]));
}

TEST_LOOP(a_name_that_stands_for_too_much_is_left_alone, has_demangler())
{
    struct text first = growing_name(12), second = growing_name(24), third = growing_name(60);
    struct text names[] = {first, second, TEXT("_Z1gv"), third, TEXT("_Z1hv")};

    symbol_names_demangle(names, 5, &arena);
    ck_assert_uint_gt(names[0].size, 12000); /* 4,096 times "a" at least */
    ck_assert(text_equal(names[1], second)); /* 2^24 of them: more than 64 KiB */
    ck_assert(text_equal(names[2], TEXT("g()")));
    ck_assert(text_equal(names[3], third)); /* 2^60: no machine has them */
    ck_assert(text_equal(names[4], TEXT("h()")));
    free((char *)(uintptr_t)first.data);
    free((char *)(uintptr_t)second.data);
    free((char *)(uintptr_t)third.data);
}

TEST_LOOP(behind_many_such_names_no_more_are_tried, has_demangler())
{
    struct text third = growing_name(60);
    struct text names[100]; /* a third of a second each would be half a minute */

    for (size_t i = 0; i < 100; i++)
        names[i] = third;
    symbol_names_demangle(names, 100, &arena);
    for (size_t i = 0; i < 100; i++)
        ck_assert(text_equal(names[i], third));
    free((char *)(uintptr_t)third.data);
}
