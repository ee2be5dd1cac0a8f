/* check_program.c: modules linked to a program: which definition wins, what is missing, what lives.
 */

#include "ptx/program.h"
#include "ptx/module.h"
#include "messages.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"
#define USE_F  ".visible .entry k() { call.uni f; ret; }"
#define USE_V  ".visible .entry k() { .reg .u32 r; ld.global.u32 r, [v]; ret; }"
#define USE_T  ".visible .entry k() { .reg .b32 r; txq.width.b32 r, [v]; ret; }"

static struct program program;
static struct program_request request;

void set_up(void)
{
    messages_catch();
    program = (struct program){0};
    request = (struct program_request){.arch = {90, 0}};
}

void tear_down(void)
{
    program_free(&program);
}

/* Links modules given without their headers; the files are called a, b, c. The texts live on. */
static bool link_texts(const char *const *texts, size_t count)
{
    static const char *const names[] = {"a", "b", "c"};
    static char copies[3][2048];
    struct program_source sources[3];

    for (size_t i = 0; i < count; i++) {
        snprintf(copies[i], sizeof copies[i], HEADER "%s", texts[i]);
        sources[i] = (struct program_source){names[i], text_of(copies[i])};
    }
    return program_link(&program, sources, count, &request);
}

static const struct program_symbol *symbol(const char *name)
{
    for (size_t i = 0; i < program.symbol_count; i++)
        if (text_equal(program.symbols[i].name, text_of(name)))
            return &program.symbols[i];
    ck_abort_msg("no symbol %s", name);
    return NULL;
}

static const struct {
    const char *a, *b;
    const char *message; /* NULL: it links */
} link_cases[] = {
    {".visible .func f() {}", ".extern .func f();" USE_F, NULL},
    {".extern .func f();" USE_F, ".visible .func f() {}", NULL},
    {".visible .func f() {}", ".visible .func f() {}" USE_F,
     "Multiple definition of 'f' in 'b', first defined in 'a'"},
    {".weak .func f() {}", ".visible .func f() {}" USE_F, NULL},
    {".weak .func f() {}", ".weak .func f() {}" USE_F, NULL},
    {".visible .global .u32 v;", ".visible .global .u32 v;" USE_V,
     "Multiple definition of 'v' in 'b', first defined in 'a'"},
    {".common .global .u32 v;", ".common .global .u64 v;" USE_V, NULL},
    {".common .global .u32 v;", ".visible .global .u64 v = 1;" USE_V, NULL},
    {".common .global .u64 v;", ".visible .global .u32 v = 1;" USE_V,
     "Common symbol 'v' in file 'a' has larger size than initialization"},
    {".visible .global .u32 v = 1;", ".common .global .u64 v;" USE_V,
     "Common symbol 'v' in file 'b' has larger size than initialization"},
    {".weak .global .u32 v;", ".visible .global .u64 v;" USE_V,
     "Size doesn't match for 'v' in 'b', first specified in 'a'"},
    {".visible .global .u32 v;", ".extern .global .u64 v;" USE_V,
     "Size doesn't match for 'v' in 'b', first specified in 'a'"},
    {".extern .global .u64 v;" USE_V, ".visible .global .u32 v;",
     "Size doesn't match for 'v' in 'b', first specified in 'a'"},
    {".visible .global .b8 v[8];", ".extern .global .b8 v[];" USE_V, NULL},
    {".visible .global .b8 v[4];", ".extern .global .u32 v;" USE_V, NULL},
    {".visible .const .u32 v;", ".extern .global .u32 v;" USE_V,
     "Memory space doesn't match for 'v' in 'b', first specified in 'a'"},
    {".visible .func v() {}", ".extern .global .u32 v;" USE_V,
     "Memory space doesn't match for 'v' in 'b', first specified in 'a'"},
    {".visible .global .attribute(.managed) .u32 v;", ".extern .global .u32 v;" USE_V,
     "Managed attribute doesn't match for 'v' in 'b', first specified in 'a'"},
    {".visible .func f() {}", ".extern .entry f();" USE_F,
     "Function 'f' not declared __global__ in all source files"},
    {".visible .func f(.param .b32 a) {}", ".extern .func f(.param .u32 x);" USE_F, NULL},
    {".visible .func f(.param .align 8 .b8 a[8]) {}",
     ".extern .func f(.param .align 4 .b8 a[8]);" USE_F, NULL},
    {".visible .func f(.param .b32 a) {}", ".extern .func f(.param .f32 a);" USE_F,
     "Prototype doesn't match for 'f' in 'b', first defined in 'a'"},
    {".visible .func (.param .b32 r) f(.param .b32 a) {}", ".extern .func f(.param .b32 a);" USE_F,
     "Prototype doesn't match for 'f' in 'b', first defined in 'a'"},
    {".visible .func f(.param .b32 a) {}", ".extern .func f();", NULL},
    {"", ".extern .func f();" USE_F, "Undefined reference to 'f' in 'b'"},
    {"", ".extern .func f();", NULL},
    {"", ".extern .global .u32 v;" USE_V, "Undefined reference to 'v' in 'b'"},
    {"", ".extern .global .u32 v;", NULL},
    {"", ".extern .shared .b8 v[];" USE_V, NULL},
    {"", ".extern .func vprintf(); .visible .entry k() { call.uni vprintf; ret; }", NULL},
    {"", ".extern .func x(); .func dead() { call.uni x; }", NULL},
    {"", ".extern .func x(); .visible .global .u64 t = x;", "Undefined reference to 'x' in 'b'"},
    {"", ".func f() {} .func f() {}", "b:4:20: Duplicate definition of function 'f'"},
    {"", ".alias g, f;", "Alias 'g' in 'b' is not declared as a function"},
    {"", ".visible .func g(); .alias g, f;", "which is no function defined there"},
    {".func f() {}", ".func f() {}" USE_F, NULL},
    {".global .texref v;", ".extern .global .texref v;" USE_T, NULL},
    {".global .texref v;", ".visible .global .texref v;" USE_T, NULL},
    {".global .surfref v;", ".global .texref v;" USE_T,
     "Multiple definition of 'v' in 'b', first defined in 'a'"},
    {".visible .global .u64 v;", ".global .texref v;" USE_T,
     "Multiple definition of 'v' in 'b', first defined in 'a'"},
    {".global .texref v;", ".extern .global .u32 v;" USE_V,
     "Memory space doesn't match for 'v' in 'b', first specified in 'a'"},
    {"", ".extern .global .texref v;" USE_T, NULL},
    {".func g();" USE_F ".visible .func f() { call.uni g; }", "",
     "Undefined reference to 'g' in 'a'"},
};

TEST_LOOP(modules_link_by_nvlinks_rules, COUNT(link_cases))
{
    const char *const texts[] = {link_cases[_i].a, link_cases[_i].b};
    bool is_good = link_texts(texts, 2);

    if (!link_cases[_i].message)
        ck_assert_msg(is_good, "%s", messages_said());
    ck_assert_msg(is_good == (link_cases[_i].message == NULL), "%s",
                  is_good ? "links" : messages_said());
    if (link_cases[_i].message)
        ck_assert_msg(strstr(messages_said(), link_cases[_i].message) != NULL, "%s",
                      messages_said());
    ck_assert_msg(messages.errors == (link_cases[_i].message != NULL), "%s", messages_said());
}

/* Sizes, aliases, prototypes and undefined symbols are found by different steps. */
TEST(errors_of_all_steps_are_reported_together)
{
    const char *const texts[] = {
        ".visible .func f(.param .b32 a) {} .visible .global .u32 v; .alias lost, f;",
        ".extern .func f(.param .b64 a); .extern .global .u64 v; .extern .func x();"
        ".visible .func g(); .alias g, x; .func d() {} .func d() {}"
        ".visible .entry k() { call.uni f; call.uni x; ld.global.u64 %r, [v]; }"};
    static const char *const expected[] = {
        "Alias 'lost' in 'a' is not declared as a function",
        "Size doesn't match for 'v' in 'b', first specified in 'a'",
        "Duplicate definition of function 'd'",
        "Alias 'g' in 'b' is of 'x', which is no function defined there",
        "Prototype doesn't match for 'f' in 'b', first defined in 'a'",
        "Undefined reference to 'x' in 'b'",
    };

    ck_assert(!link_texts(texts, 2));
    ck_assert_uint_eq(messages.errors, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(strstr(messages_said(), expected[i]) != NULL, "%s: %s", expected[i],
                      messages_said());
}

TEST(the_first_symbol_may_be_what_was_meant)
{
    const char *const texts[] = {".func plain() { ret; }",
                                 ".extern .func plain(); .visible .entry k() { call plain; }"};

    ck_assert(!link_texts(texts, 2));
    ck_assert_msg(strstr(messages_said(), "'plain' is defined in 'a', but not .visible"), "%s",
                  messages_said());
}

/* Of 400 bytes at most, in one line. */
TEST_LOOP(long_prototypes_are_cut, 2)
{
    static const char head[] = ".visible .func f(.param \n .b32 ";
    int name = 377 + _i;
    char function[512], wanted[512];
    const char *const texts[] = {function,
                                 ".extern .func f(.param .b64 a); .entry k() { call f; }"};

    memset(wanted, 'a', sizeof wanted);
    snprintf(function, sizeof function, "%s%.*s) { ret; }", head, name, wanted);
    snprintf(wanted, sizeof wanted, "'f' is defined as .func f(.param .b32 %.*s%s\n", name,
             function + strlen(head), _i ? "..." : ")");
    ck_assert(!link_texts(texts, 2));
    ck_assert_msg(strstr(messages_said(), wanted), "%s", messages_said());
}

TEST(winners_are_the_first_weak_the_strong_and_the_largest_common)
{
    const char *const texts[] = {
        ".weak .global .u32 w = 1; .weak .global .u32 s; .common .global .u32 "
        "c;",
        ".weak .global .u32 w = 2; .visible .global .u32 s; .common .global "
        ".u64 c;"};

    ck_assert(link_texts(texts, 2));
    ck_assert_uint_eq(symbol("w")->module, 0);
    ck_assert_uint_eq(symbol("s")->module, 1);
    ck_assert_uint_eq(symbol("s")->linkage, PTX_VISIBLE);
    ck_assert_uint_eq(symbol("c")->item->variable.size, 8);
}

/* Whichever comes first. */
TEST_LOOP(the_strictest_declaration_counts, 2)
{
    const char *const texts[] = {".extern .shared .align 4 .b8 v[];\n" USE_V,
                                 ".extern .shared .align 16 .b8 v[];"};
    const char *const back[] = {texts[1], texts[0]};

    ck_assert(link_texts(_i ? back : texts, 2));
    ck_assert_uint_eq(symbol("v")->item->variable.alignment, 16);
}

TEST(textures_of_one_name_are_the_same_in_all_modules)
{
    const char *const texts[] = {".global .texref t;", ".global .texref t; .global .u32 u;"};

    ck_assert(link_texts(texts, 2));
    ck_assert_uint_eq(program.symbol_count, 2);
    ck_assert_uint_eq(symbol("t")->module, 0);
    ck_assert_uint_eq(symbol("t")->linkage, PTX_VISIBLE);
    ck_assert_uint_eq(symbol("u")->linkage, PTX_INTERNAL);
}

TEST(what_no_kernel_reaches_is_dropped_but_variables_stay)
{
    const char *const texts[] = {
        ".func a() {} .func b() { call.uni a; } .visible .func dead() {} .func t() {}\n"
        ".global .u32 unused; .global .u64 table = t;\n"
        ".visible .entry k() { call.uni b; }"};

    ck_assert(link_texts(texts, 1));
    ck_assert(symbol("a")->is_live && symbol("b")->is_live && symbol("t")->is_live);
    ck_assert(!symbol("dead")->is_live);
    ck_assert(symbol("unused")->is_live);
    ck_assert_uint_eq(program.dropped_functions, 1);
    ck_assert(symbol("t")->is_address_taken);
    ck_assert(!symbol("a")->is_address_taken);
}

/* Two modules, what is asked for, and which symbols live then, in the order of the program. */
#define LIBRARY                                                                                    \
    ".func i() {} .visible .func e() { call i; } .weak .func w() {} .global .u32 v;\n"             \
    ".visible .entry k() { ret; }"
static const struct {
    const char *texts[2];
    char asked; /* for dead code, undefined symbols, exported functions */
    const char *live;
} live_cases[] = {
    {{LIBRARY, ""}, 0, "v k"},
    {{LIBRARY, ""}, 'd', "i e w v k"},
    {{LIBRARY, ""}, 'u', "i e w v k"},
    {{LIBRARY, ""}, 'x', "i e w v k"},
    {{LIBRARY, ".extern .func u(); .entry l() { call u; }"}, 'u', "i e w v k u l"},
    {{LIBRARY, ".extern .func e(); .entry l() { call e; }"}, 0, "i e v k l"},
    {{LIBRARY, ".extern .func e(); .func l() { call e; }"}, 0, "v k"},
    {{LIBRARY, ".extern .func w(); .global .u64 t = w; "}, 0, "w v k t"},
    {{".section .debug_info { .b8 0 }\n.extern .func e(); .func a() {} .func b() { call e; }",
      LIBRARY},
     0,
     "a b i e v k"},
    {{".section .debug_str { .b8 0 }\n.extern .func e(); .func a() {} .func b() { call e; }",
      LIBRARY},
     0,
     "v k"},
    {{".func f() {} .alias g, f; .visible .func g(); .entry k() { call g; }", ""}, 0, "f g k"},
    {{".func f() {} .alias g, f; .visible .func g(); .entry k() { call f; }", ""}, 0, "f k"},
};

TEST_LOOP(what_lives_is_what_is_asked_for_and_what_that_names, COUNT(live_cases))
{
    char live[64] = "";

    request.keep_dead = live_cases[_i].asked == 'd';
    request.allow_undefined = live_cases[_i].asked == 'u';
    request.keep_exported = live_cases[_i].asked == 'x';
    ck_assert_msg(link_texts(live_cases[_i].texts, 2), "%s", messages_said());
    for (size_t i = 0; i < program.symbol_count; i++)
        if (program.symbols[i].is_live) {
            size_t size = strlen(live);

            snprintf(live + size, sizeof live - size, "%s%.*s", size ? " " : "",
                     TEXT_ARG(program.symbols[i].name));
        }
    ck_assert_str_eq(live, live_cases[_i].live);
}

TEST(what_only_the_dead_refer_to_need_not_be_defined)
{
    const char *const texts[] = {
        ".func a() {} .extern .func f(); .func dead() { call.uni f; } .visible .entry k() { ret; }",
        ".func a() {} .extern .func vprintf(); .func dead() { call.uni vprintf; }"};

    request.keep_whole = true;
    ck_assert(link_texts(&texts[1], 1));
    ck_assert(symbol("a")->is_live && symbol("dead")->is_live);
    program_free(&program);
    program = (struct program){0};
    ck_assert(link_texts(texts, 1));
    ck_assert(!symbol("a")->is_live && !symbol("dead")->is_live);
}

TEST(internal_symbols_of_one_name_get_names_of_their_own)
{
    const char *const texts[] = {
        ".global .u32 s = 1; .visible .entry a() { ld.global.u32 %r, [s]; }",
        ".global .u32 s = 2; .visible .entry b() { ld.global.u32 %r, [s]; }",
        ".visible .global .u32 t;"};
    const struct program_symbol *second;

    ck_assert(link_texts(texts, 3));
    ck_assert(symbol("s")->edit_count == 0);
    second = &program.symbols[2];
    ck_assert(text_equal(second->own_name, TEXT("s")));
    ck_assert(text_starts(second->name, TEXT("s$ml")));
    ck_assert_uint_eq(second->name.size, strlen("s$ml12345678"));
    ck_assert_uint_eq(second->edit_count, 1);
    ck_assert_uint_eq(symbol("b")->edit_count, 1);
}

/* Of the variable, the kernel and two of the sections: each once, whatever was read before. */
TEST(sections_name_symbols_by_their_new_names)
{
    const char *const texts[] = {".global .u32 s; .visible .entry a() { ld.global.u32 %r, [s]; }",
                                 ".global .u32 s; .visible .entry b() { ld.global.u32 %r, [s]; }\n"
                                 ".section .debug_info { .b64 s }\n.section .debug_loc { .b64 s "
                                 "}\n.section .debug_str { .b8 0 }"};

    ck_assert(link_texts(texts, 2));
    ck_assert_uint_eq(program.details[1].edit_count, 4);
    ck_assert_uint_eq(program.details[0].edit_count, 0);
}

TEST(equal_modules_have_different_names_for_equal_symbols)
{
    const char *const texts[] = {".global .u32 s;", ".global .u32 s;", ".global .u32 s;"};

    ck_assert(link_texts(texts, 3));
    ck_assert(!text_equal(program.symbols[1].name, program.symbols[2].name));
    ck_assert(!text_equal(program.symbols[0].name, program.symbols[1].name));
}

TEST(symbols_stand_in_program_order)
{
    static const char *const names[] = {"z", "y", "a", "m", "b"};
    const char *const texts[] = {
        ".visible .func z() {} .extern .func b(); .global .u32 y; .func a() "
        "{}",
        ".global .u32 m; .visible .func b() {}"};

    ck_assert(link_texts(texts, 2));
    ck_assert_uint_eq(program.symbol_count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert(text_equal(program.symbols[i].name, text_of(names[i])));
}

static const struct {
    const char *body;
    const char *uses; /* which of f, g, v it names, in order of first use */
    bool takes_f;
} scan_cases[] = {
    {"call.uni f;", "f", false},
    {"call.uni (r), f, (x);", "f", false},
    {"@%p1 call f;", "f", false},
    {"@!%p1 bra f1; f1: call (r), %rd2, (x), T; T: .calltargets f, g;", "fg", true},
    {"mov.u64 %rd1, f;", "f", true},
    {"// call f;\n /* g */ .pragma \"v\";", "", false},
    {"v.u32 %r1; g: bra h; h:", "", false},
    {"ld.global.u32 %r1, [v+4]; st.global.v2.u32 [v], {%r1, %r2}; call g;", "vg", false},
    {".loc 1 2 3\n call f;", "f", false},
    {".loc 1 2 3, function_name $x, inlined_at 1 2 3\n call f;\n.loc 1 2 3\nL: v.x y;", "f", false},
    {"{ .reg .u32 a; call.uni g; { call f; } }", "gf", false},
    {".global .u64 t[2] = {f, g}; v.u32 a;", "fg", true},
    {"{ mov.b64 %rd, {%r, %r} } f g;", "g", false},
    {".global .u64 t[1][1] = {{f}}, u = g;", "fg", true},
};

TEST_LOOP(bodies_name_what_they_use, COUNT(scan_cases))
{
    char text[1024], uses[8] = "";
    const char *const texts[] = {text};
    const struct program_symbol *k;

    snprintf(text, sizeof text,
             ".visible .func f() {} .visible .func g() {} .visible .global .u32 v;\n"
             ".visible .entry k() { %s }",
             scan_cases[_i].body);
    ck_assert_msg(link_texts(texts, 1), "%s", messages_said());
    k = symbol("k");
    for (uint32_t i = 0; i < k->reference_count; i++)
        strncat(uses, program.symbols[k->references[i]].name.data, 1);
    ck_assert_str_eq(uses, scan_cases[_i].uses);
    ck_assert_int_eq(symbol("f")->is_address_taken, scan_cases[_i].takes_f);
}

TEST(variables_in_bodies_and_recursion_are_seen)
{
    const char *const texts[] = {
        ".func a() { .shared .b8 s[4]; } .func b() { call b; } .func c() { ld.shared.u32 a,[b]; }\n"
        ".visible .entry k() { call a; call b; call c; }"};

    ck_assert(link_texts(texts, 1));
    ck_assert(symbol("a")->has_body_variables && !symbol("a")->is_recursive);
    ck_assert(symbol("b")->is_recursive && !symbol("b")->has_body_variables);
    ck_assert(!symbol("c")->has_body_variables);
}

static const struct {
    const char *target;
    struct arch arch;
    bool is_good;
} target_cases[] = {
    {"sm_90", {90, 0}, true},       {"sm_80", {90, 0}, true},      {"sm_90", {90, 'a'}, true},
    {"sm_100", {90, 0}, false},     {"sm_90a", {90, 0}, false},    {"sm_90a", {90, 'a'}, true},
    {"sm_100f", {103, 0}, true},    {"sm_100f", {103, 'a'}, true}, {"sm_100f", {110, 'f'}, false},
    {"sm_100a", {100, 'f'}, false}, {"sm_100f", {100, 'a'}, true}, {"sm_90a", {100, 'a'}, false},
};

TEST_LOOP(targets_follow_the_assemblers_rules, COUNT(target_cases))
{
    struct program_source source = {"a", {0}};

    source.text = text_of(
        suite_print(".version 9.0\n.target %s\n.address_size 64\n", target_cases[_i].target));
    request.arch = target_cases[_i].arch;
    ck_assert_int_eq(program_link(&program, &source, 1, &request), target_cases[_i].is_good);
}

TEST(modules_agree_on_address_size_and_texturing_mode)
{
    struct program_source sources[] = {
        {"a", TEXT(".version 9.0 .target sm_90 .address_size 64")},
        {"b", TEXT(".version 9.0 .target sm_90, texmode_independent .address_size 64")},
        {"c", TEXT(".version 8.0 .target sm_80 .address_size 32")},
    };

    ck_assert(!program_link(&program, sources, 3, &request));
    ck_assert_ptr_nonnull(
        strstr(messages_said(), "Texturing mode doesn't match in 'b', first specified in 'a'"));
    ck_assert_ptr_nonnull(
        strstr(messages_said(), "Address size doesn't match in 'c', first specified in 'a'"));
}

TEST(most_demanding_target_is_the_programs)
{
    struct program_source sources[] = {{"a", TEXT(".version 8.4 .target sm_80 .address_size 64")},
                                       {"b", TEXT(".version 9.0 .target sm_100f .address_size 64")},
                                       {"c", TEXT(".version 9.0 .target sm_103 .address_size 64")}};

    request.arch = (struct arch){103, 'a'};
    ck_assert(program_link(&program, sources, 3, &request));
    ck_assert_uint_eq(program.target.sm, 103);
    ck_assert_int_eq(program.target.suffix, 'f');
}

TEST(newest_version_is_the_programs)
{
    struct program_source sources[] = {
        {"a", TEXT(".version 8.4 .target sm_90 .address_size 64")},
        {"b", TEXT(".version 7.9 .target sm_90 .address_size 64 .version 8.10 .target sm_80 "
                   ".address_size 64\0\0")}};

    ck_assert(program_link(&program, sources, 2, &request));
    ck_assert_uint_eq(program.module_count, 3);
    ck_assert_uint_eq(program.version_major, 8);
    ck_assert_uint_eq(program.version_minor, 10);
    ck_assert_uint_eq(program.target.sm, 90);
}
