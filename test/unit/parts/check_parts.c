/* check_parts.c: the PTX of several compilations of one program becomes one module. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "diag/diag.h"
#include "input/used.h"
#include "parts/parts.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct arena arena;
static struct parts_result result;
static struct diag_sink sink;

void set_up(void)
{
    diag_state_get()->sink = &sink;
    arena = (struct arena){0};
}

void tear_down(void)
{
    diag_state_get()->sink = NULL;
    diag_sink_free(&sink);
    arena_free(&arena);
}

/* Joins `count` texts given without their headers. */
static enum parts_answer join_texts(const char *const *parts, size_t count,
                                    const struct used_names *used)
{
    struct text texts[4];
    struct parts_request request = {.texts = texts, .count = count, .used = used};

    for (size_t i = 0; i < count; i++)
        texts[i] = text_of(arena_printf(&arena, HEADER "%s", parts[i]));
    return parts_join(&result, &arena, &request);
}

static enum parts_answer join(const char *first, const char *second)
{
    const char *const parts[] = {first, second};

    return join_texts(parts, 2, NULL);
}

/* The same, which must succeed, and must give the same whichever part comes first. */
static const char *joined(const char *first, const char *second)
{
    struct text text;

    ck_assert_int_eq(join(second, first), PARTS_JOINED);
    text = result.ptx;
    ck_assert_int_eq(join(first, second), PARTS_JOINED);
    ck_assert_str_eq(arena_string(&arena, text), arena_string(&arena, result.ptx));
    return arena_string(&arena, result.ptx);
}

/* How often a word stands in the result. */
static size_t times(const char *word)
{
    const char *at = arena_string(&arena, result.ptx);
    size_t count = 0;

    while ((at = strstr(at, word))) {
        count++;
        at += strlen(word);
    }
    return count;
}

/* Whether the words stand in the text in this order; ends with NULL. */
static bool in_order(const char *text, const char *const *words)
{
    while (text && *words)
        text = strstr(text, *words++);
    return text != NULL;
}

#define ck_assert_in_order(text, ...)                                                              \
    ck_assert(in_order((text), (const char *const[]){__VA_ARGS__, NULL}))

/* The word that begins with `beginning` at its first place behind `mark`. */
static const char *word_behind(const char *text, const char *mark, const char *beginning)
{
    const char *at = strstr(text, mark);

    ck_assert_msg(at != NULL, "no %s in %s", mark, text);
    at = strstr(at, beginning);
    ck_assert_msg(at != NULL, "no %s behind %s", beginning, mark);
    return arena_string(&arena, (struct text){at, strcspn(at, " \n;,[](){}+")});
}

TEST(what_stands_in_both_parts_is_taken_once)
{
    joined(
        ".visible .global .u32 v = 3;\n.extern .shared .b8 s[];\n.visible .entry k1() { ret; }\n",
        ".visible .global .u32 v = 3;\n.extern .shared .b8 s[];\n.visible .entry k2() { ret; }\n");
    ck_assert_uint_eq(times(".version"), 1);
    ck_assert_uint_eq(times(".global"), 1);
    ck_assert_uint_eq(times(".shared"), 1);
    ck_assert_uint_eq(times(".visible .entry k1"), 1);
    ck_assert_uint_eq(times(".visible .entry k2"), 1);
}

TEST(a_kernel_of_two_parts_is_one)
{
    joined(".visible .entry k() { ret; }\n", ".visible .entry k() { ret; }\n");
    ck_assert_uint_eq(times(".entry k"), 1);
}

/* A kernel that another one launches is internal where it is not asked for. */
TEST(the_strongest_linkage_counts)
{
    joined(".entry child() { ret; }\n.visible .entry k() { mov.u64 %rd1, child; }\n",
           ".visible .entry child() { ret; }\n");
    ck_assert_uint_eq(times(".visible .entry child"), 1);
    ck_assert_uint_eq(times(".entry child"), 1);
}

#define LOOP(function, call)                                                                       \
    ".func (.param .b32 func_retval0) f(.param .b32 f_param_0)\n{\n"                               \
    "\t.local .align 4 .b8 \t__local_depot" function "[8];\n"                                      \
    "\tmov.u64 %SPL, __local_depot" function ";\n\n$L__BB" function "_2:\n"                        \
    "\t{ // callseq " call ", 0\n\tprototype_" call " : .callprototype ()_ ();\n"                  \
    "\tcall \n\t%rd3, \n\t(\n\t)\n\t, prototype_" call ";\n\t} // callseq " call "\n"              \
    "\t@%p1 bra $L__BB" function "_2;\n\tbrx.idx %r1, $L_brx_" call ";\n}\n"

#define CALLS_F(name)                                                                              \
    ".visible .entry " name "()\n{\n\tcall.uni (retval0), \n\tf, \n\t(\n\tp\n\t);\n}\n"

TEST(numbers_of_functions_and_calls_do_not_matter)
{
    const char *text =
        joined(LOOP("0", "0") CALLS_F("k1"), CALLS_F("k0") LOOP("17", "423") CALLS_F("k2"));

    ck_assert_uint_eq(times(".func"), 1);
    ck_assert_uint_eq(times("callseq"), 0);
    ck_assert_uint_eq(times("$L__BB0_2"), 2);
    ck_assert_uint_eq(times("__local_depot0"), 2);
    ck_assert_uint_eq(times("prototype_0"), 2);
    ck_assert_uint_eq(times("$L_brx_0"), 1);
    ck_assert_ptr_null(strstr(text, "423"));
}

#define STRING(name, bytes) ".global .align 1 .b8 " name "[2] = {" bytes "};\n"
#define NAMES(kernel, name) ".visible .entry " kernel "()\n{\n\tmov.u64 \t%rd1, " name ";\n}\n"

TEST(constants_without_a_name_are_told_by_their_contents)
{
    const char *text = joined(STRING("__unnamed_1", "65") NAMES("k1", "__unnamed_1"),
                              STRING("__unnamed_1", "66") STRING("__unnamed_2", "65")
                                  NAMES("k2", "__unnamed_1") NAMES("k3", "__unnamed_2"));
    const char *a = word_behind(text, ".entry k1", "__unnamed");
    const char *b = word_behind(text, ".entry k2", "__unnamed");

    ck_assert_uint_eq(times(".global"), 2);
    ck_assert_str_ne(a, b);
    ck_assert_str_eq(a, word_behind(text, ".entry k3", "__unnamed"));
    ck_assert_ptr_nonnull(strstr(text, arena_printf(&arena, "%s[2] = {65}", a)));
    ck_assert_ptr_nonnull(strstr(text, arena_printf(&arena, "%s[2] = {66}", b)));
}

TEST(two_constants_of_a_part_with_the_same_contents_are_one)
{
    const char *text = joined(STRING("__unnamed_1", "65") STRING("__unnamed_2", "65")
                                  NAMES("k1", "__unnamed_1") NAMES("k2", "__unnamed_2"),
                              "");

    ck_assert_uint_eq(times(".global"), 1);
    ck_assert_str_eq(word_behind(text, ".entry k1", "__unnamed"),
                     word_behind(text, ".entry k2", "__unnamed"));
}

TEST(strings_keep_their_names_while_they_mean_the_same)
{
    joined(STRING("$str", "65") NAMES("k1", "$str"), STRING("$str", "65") NAMES("k2", "$str"));
    ck_assert_uint_eq(times(".global"), 1);
    ck_assert_uint_eq(times(", $str;"), 2);
}

TEST(strings_of_one_name_with_several_contents_get_names_of_their_own)
{
    const char *text =
        joined(STRING("$str", "65") NAMES("k1", "$str"), STRING("$str", "66") NAMES("k2", "$str"));
    const char *a = word_behind(text, ".entry k1", "$str");
    const char *b = word_behind(text, ".entry k2", "$str");

    ck_assert_str_ne(a, b);
    ck_assert_ptr_nonnull(strstr(text, arena_printf(&arena, "%s[2] = {65}", a)));
    ck_assert_ptr_nonnull(strstr(text, arena_printf(&arena, "%s[2] = {66}", b)));
}

TEST(tables_point_to_the_constant_that_stays)
{
#define TABLE(name) ".global .align 8 .u64 t[2] = {generic(" name "), generic(f)+4};\n"
#define FUNCTION    ".func f()\n{\n\tret;\n}\n"
    const char *text = joined(
        STRING("__unnamed_1", "65") ".func f();\n" TABLE("__unnamed_1") FUNCTION NAMES("k1", "t"),
        STRING("__unnamed_1", "1") STRING("__unnamed_2", "65") ".func f();\n" TABLE("__unnamed_2")
            FUNCTION NAMES("k2", "t") NAMES("k3", "__unnamed_1"));

    ck_assert_uint_eq(times(" t[2] ="), 1);
    ck_assert_ptr_nonnull(strstr(
        text, arena_printf(&arena, "%s[2] = {65}", word_behind(text, " t[2] =", "__unnamed"))));
    /* In front of the table there are a declaration of the function, and what the table names. */
    ck_assert_in_order(text, ".func f();", "= {65}", " t[2] =", ".func f()\n{", ".entry k1");
}

static const struct {
    const char *first, *second, *difference;
} disagreements[] = {
    {".visible .global .u32 v = 3;", ".visible .global .u32 v = 4;", "initial value of 'v'"},
    {".visible .global .u32 v = 3;", ".visible .global .u32 v;", "initial value of 'v'"},
    {".visible .global .u32 v;", ".visible .global .s32 v;", "type of 'v'"},
    {".visible .global .b8 v[4];", ".visible .global .u32 v;", "type of 'v'"},
    {".visible .global .b8 v[4];", ".visible .global .b8 v[8];", "size of 'v'"},
    {".visible .global .align 4 .b8 v[8];", ".visible .global .align 8 .b8 v[8];",
     "alignment of 'v'"},
    {".visible .global .u32 v;", ".visible .const .u32 v;", "space of 'v'"},
    {".visible .global .u32 v;", ".visible .global .attribute(.managed) .u32 v;",
     "attributes of 'v'"},
    {".shared .u32 v;", ".shared .u8 v;", "type of 'v'"},
    {".visible .global .u32 v;", ".visible .func v() { ret; }", "kind of 'v'"},
    {".visible .entry v() { ret; }", ".visible .func v() { ret; }", "kind of 'v'"},
    {".extern .global .u32 v;", ".visible .global .u32 v;", "definition of 'v'"},
    {".extern .func v();", ".extern .func v(.param .b32 p);", "prototype of 'v'"},
    {".func v(); .alias a, v;", "", "alias 'a'"},
    {".section .debug_info { .b8 1 }", "", "sections for debuggers"},
    {".section .debug_str { s: {} }", "", "sections for debuggers"},
    {"", "\n.version 9.0\n.target sm_90\n", "number of modules"},
};

TEST_LOOP(what_parts_disagree_about_is_named, COUNT(disagreements))
{
    ck_assert_int_eq(join(disagreements[_i].first, disagreements[_i].second), PARTS_DISAGREE);
    ck_assert_str_eq(result.difference, disagreements[_i].difference);
    ck_assert_int_eq(join(disagreements[_i].second, disagreements[_i].first), PARTS_DISAGREE);
    ck_assert_str_eq(result.difference, disagreements[_i].difference);
}

static const char *const heads[] = {
    ".version 8.0\n.target sm_90\n.address_size 64\n",
    ".version 9.1\n.target sm_90\n.address_size 64\n",
    ".version 9.0\n.target sm_80\n.address_size 64\n",
    ".version 9.0\n.target sm_90a\n.address_size 64\n",
    ".version 9.0\n.target sm_90, texmode_independent\n.address_size 64\n",
    ".version 9.0\n.target sm_90\n.address_size 32\n",
};

TEST_LOOP(parts_with_other_heads_disagree, COUNT(heads))
{
    struct text texts[2] = {TEXT(HEADER), text_of(heads[_i])};
    struct parts_request request = {.texts = texts, .count = 2};

    ck_assert_int_eq(parts_join(&result, &arena, &request), PARTS_DISAGREE);
    ck_assert_str_eq(result.difference, ".version, .target or .address_size");
}

TEST(what_is_no_ptx_is_reported)
{
    ck_assert_int_eq(join(".visible .entry k() { ret; }", ".visible .entry {"), PARTS_FAILED);
    ck_assert_uint_gt(sink.errors, 0);
}

#define F(text)    ".func f()\n{\n\t" text "\n}\n"
#define G          ".func g()\n{\n\tcall.uni f, ();\n}\n"
#define CALL(k, f) ".visible .entry " k "()\n{\n\tcall.uni " f ", ();\n}\n"

TEST(calls_go_to_the_version_of_their_part)
{
    const char *text = joined(F("one;") CALL("k1", "f"), F("two;") CALL("k2", "f"));
    const char *one = word_behind(text, ".entry k1", "f"),
               *two = word_behind(text, ".entry k2", "f");

    ck_assert_str_ne(one, two);
    ck_assert_str_eq(one, "f"); /* the lower text */
    ck_assert_in_order(text, ".func f()", "one;");
    ck_assert_in_order(text, arena_printf(&arena, ".func %s()", two), "two;", ".entry k2");
}

TEST(callers_of_two_versions_are_two)
{
    const char *text = joined(F("one;") G CALL("k1", "g"), F("two;") G CALL("k2", "g"));
    const char *one = word_behind(text, ".entry k1", "g"),
               *two = word_behind(text, ".entry k2", "g");
    const char *behind_one = arena_printf(&arena, ".func %s()", one);
    const char *behind_two = arena_printf(&arena, ".func %s()", two);

    ck_assert_str_ne(one, two);
    ck_assert_str_ne(word_behind(strstr(text, behind_one), "call.uni", "f"),
                     word_behind(strstr(text, behind_two), "call.uni", "f"));
    ck_assert_uint_eq(times(".func"), 4);
    ck_assert_uint_eq(result.several, 2);
}

/* A part that lacks the function is no compiler's; its call means no version. */
TEST(a_call_of_what_its_part_does_not_have_means_no_version)
{
    const char *const parts[] = {F("one;") G CALL("k1", "g"), F("two;") G CALL("k2", "g"),
                                 G CALL("k3", "g") NAMES("k4", "f")};

    ck_assert_int_eq(join_texts(parts, 3, NULL), PARTS_JOINED);
    ck_assert_uint_eq(result.several, 2);
}

/* Each call looks for its target no further than the next: a square of this would take an hour. */
TEST(many_calls_that_do_not_end_are_read_at_once)
{
    static const char line[] = "call (x\n";
    const size_t size = sizeof line - 1, count = 400000;
    char *calls = arena_alloc(&arena, count + 1, size);

    for (size_t i = 0; i < count; i++)
        memcpy(calls + i * size, line, size);
    calls[count * size] = '\0';
    joined(arena_printf(&arena, ".visible .entry k()\n{\n%s}\n", calls),
           ".visible .entry k2() { ret; }\n");
}

TEST(a_recursive_function_of_two_versions_calls_itself)
{
    const char *text =
        joined(F("one; call f, ();") CALL("k1", "f"), F("two; call f, ();") CALL("k2", "f"));

    for (int i = 1; i <= 2; i++) {
        const char *kernel = arena_printf(&arena, ".entry k%d", i);
        const char *name = word_behind(text, kernel, "f");

        ck_assert_str_eq(
            name, word_behind(strstr(text, arena_printf(&arena, ".func %s()", name)), "call", "f"));
    }
}

TEST(addresses_mean_the_version_of_a_part_that_takes_them)
{
    const char *text =
        joined(F("a only;") CALL("k1", "f"), F("general;") NAMES("k2", "f") CALL("k3", "f"));

    ck_assert_ptr_nonnull(strstr(text, "mov.u64 \t%rd1, f;"));
    ck_assert_str_eq(word_behind(text, ".entry k3", "f"), "f");
    ck_assert_str_ne(word_behind(text, ".entry k1", "f"), "f");
    ck_assert_in_order(text, ".func f()", "general;");
}

TEST(an_address_means_one_function_in_all_parts)
{
    const char *text = joined(F("one;") NAMES("k1", "f"), F("two;") NAMES("k2", "f"));

    ck_assert_in_order(text, ".entry k1", "%rd1, f;", ".entry k2", "%rd1, f;");
    ck_assert_uint_eq(times("two;"), 0);
    ck_assert_uint_eq(result.several, 0);
}

TEST(a_function_that_all_may_call_is_one)
{
    joined(".visible " F("one;") CALL("k1", "f"), ".visible " F("two;") CALL("k2", "f"));
    ck_assert_uint_eq(times(".func"), 1);
    ck_assert_uint_eq(times("call.uni f, ();"), 2);
    joined(".weak " F("one;") CALL("k1", "f"), ".weak " F("one;") CALL("k2", "f"));
    ck_assert_uint_eq(times(".weak .func"), 1);
}

#define DEMOTED   "\t// demoted variable\n\t.shared .align 4 .b8 s[64];\n"
#define USES_S(f) f "()\n{\n\t.reg .b32 %r<2>;\n\t.loc 1 2 3\n" DEMOTED "\tmov.u32 %r1, s;\n}\n"

TEST(a_variable_of_one_function_stays_in_its_body)
{
    const char *text = joined(USES_S(".func f") CALL("k1", "f"), USES_S(".func f") CALL("k2", "f"));

    ck_assert_uint_eq(times(".shared"), 1);
    ck_assert_in_order(text, ".func f()", ".shared", "mov.u32");
}

TEST(a_variable_of_several_functions_leaves_their_bodies)
{
    const char *text = joined(USES_S(".visible .entry k1"), USES_S(".visible .entry k2"));

    ck_assert_uint_eq(times(".shared"), 1);
    ck_assert_in_order(text, ".shared .align 4 .b8 s[64];", ".entry k1", "mov.u32 %r1, s;",
                       ".entry k2", "mov.u32 %r1, s;");
    text = joined(USES_S(".visible .entry k1"),
                  ".shared .align 4 .b8 s[64];\n" NAMES("k2", "s") NAMES("k3", "s"));
    ck_assert_uint_eq(times(".shared"), 1);
    ck_assert_in_order(text, ".shared .align 4 .b8 s[64];", ".entry k1");
}

/* A kernel could use one version by its name, and the other by its address. */
TEST(versions_with_shared_variables_cannot_be_joined_when_an_address_is_taken)
{
    ck_assert_int_eq(join(".func f()\n{\n" DEMOTED "\tone;\n}\n" CALL("k1", "f"),
                          ".func f()\n{\n" DEMOTED "\ttwo;\n}\n" NAMES("k2", "f")),
                     PARTS_DISAGREE);
    ck_assert_str_eq(result.difference, "code of 'f'");
}

TEST(files_and_debug_strings_have_one_number)
{
    const char *text = joined(
        ".visible .entry k1()\n{\n\t.loc 1 10 3\n\t.loc 2 7 1, function_name $L__info_string0, "
        "inlined_at 1 10 3\n\tret;\n}\n.file 1 \"b.cu\"\n.file 2 \"c.cu\"\n"
        ".section .debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 0\n}\n",
        ".visible .entry k2()\n{\n\t.loc 1 20 3\n\t.loc 3 7 1, function_name $L__info_string1, "
        "inlined_at 2 10 3\n\tret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.cu\"\n.file 3 \"c.cu\"\n"
        ".section .debug_str\n{\n$L__info_string0:\n.b8 103\n.b8 0\n$L__info_string1:\n.b8 "
        "102\n.b8 0\n}\n");

    ck_assert_uint_eq(times(".file\t1 \"a.cu\""), 1);
    ck_assert_uint_eq(times(".file\t2 \"b.cu\""), 1);
    ck_assert_uint_eq(times(".file\t3 \"c.cu\""), 1);
    ck_assert_in_order(text, ".entry k1", ".loc 2 10 3", ".loc 3 7 1", "inlined_at 2 10",
                       ".entry k2", ".loc 1 20 3", ".loc 3 7 1", "inlined_at 2 10");
    ck_assert_str_eq(word_behind(text, ".entry k1", "$L__info"),
                     word_behind(text, ".entry k2", "$L__info"));
    ck_assert_uint_eq(times(".b8 102"), 1);
    ck_assert_uint_eq(times(".b8 103"), 1);
    ck_assert_uint_eq(times(".debug_str"), 1);
}

TEST(what_host_code_does_not_name_is_hidden_or_dropped)
{
    struct used_names used = {0};
    struct inputs none = {0};
    struct used_request names = {.variables = (const char *const[]){"named", NULL}};
    const char *const parts[] = {
        ".visible .global .u32 named;\n.visible .global .u32 read;\n.visible .global .u32 dead;\n"
        ".func f() { ret; }\n.visible .global .u64 table = f;\n" NAMES("k", "read"),
        ".visible .global .u32 named;\n"};

    ck_assert(used_collect(&used, &none, &names));
    ck_assert_int_eq(join_texts(parts, 2, &used), PARTS_JOINED);
    used_free(&used);
    ck_assert_uint_eq(times(".visible .global .u32 named;"), 1);
    ck_assert_uint_eq(times("\n.global .u32 read;"), 1);
    ck_assert_uint_eq(times("dead"), 0);
    ck_assert_uint_eq(times("table"), 0);
    ck_assert_uint_eq(times(".func"), 0);
}

/* The whole text, as libnvvm lays it out. */
TEST(functions_stand_apart_and_declarations_keep_their_attributes)
{
    ck_assert_str_eq(
        joined(".global .u32 v;\n.func stop() .noreturn { call e, (); exit; }\n"
               ".func e() { call stop, (); st.global.u32 [v], 1; ret; }\n" CALL("k1", "stop"),
               ".extern .func x();\n.visible .entry k2() { ret; }\n"),
        HEADER "\n.extern .func x();\n.func stop()\n.noreturn;\n.global .u32 v;\n"
               "\n.func e() { call stop, (); st.global.u32 [v], 1; ret; }\n"
               "\n.func stop() .noreturn { call e, (); exit; }\n\n" CALL(
                   "k1", "stop") "\n.visible .entry k2() { ret; }\n\n");
}

TEST(joining_again_changes_nothing)
{
    const char *text = joined(LOOP("0", "0") CALLS_F("k1") STRING("__unnamed_1", "65")
                                  NAMES("k3", "__unnamed_1") ".extern .func e();\n" CALL("k5", "e"),
                              LOOP("3", "8") CALLS_F("k2") USES_S(".visible .entry k4"));
    struct text once = text_of(text);
    struct parts_request request = {.texts = &once, .count = 1};

    ck_assert_int_eq(parts_join(&result, &arena, &request), PARTS_JOINED);
    ck_assert_str_eq(arena_string(&arena, result.ptx), text);
}
