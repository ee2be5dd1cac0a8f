/* check_module.c: items of modules, initial values, and errors with their places. */
#include <sys/mman.h>
#include <unistd.h>

#include "ptx/declaration.h"
#include "ptx/module.h"
#include "messages.h"
#include "suite.h"

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static struct arena arena;

void set_up(void)
{
    messages_catch();
}

void tear_down(void)
{
    arena_free(&arena);
}

/* A module of the text. */
static const char *with_header(const char *text)
{
    return suite_print("%s%s", HEADER, text);
}

/* Parses a text that must be good. */
static struct ptx_module parse(const char *text)
{
    struct ptx_module module;
    struct module_cursor cursor = {0};

    ck_assert_msg(module_parse(&module, &arena, "a.ptx", text_of(text), &cursor), "%.*s",
                  TEXT_ARG(buffer_view(&messages.text)));
    return module;
}

static struct ptx_item item(const char *text, size_t index)
{
    struct ptx_module module = parse(text);

    ck_assert_uint_gt(module.item_count, index);
    return module.items[index];
}

TEST(header_is_read_also_on_one_line)
{
    struct ptx_module module =
        parse(".version 8.4 .target sm_100a,\n texmode_independent, debug .address_size 64");

    ck_assert_uint_eq(module.version_major, 8);
    ck_assert_uint_eq(module.version_minor, 4);
    ck_assert_uint_eq(module.target.sm, 100);
    ck_assert_int_eq(module.target.suffix, 'a');
    ck_assert(module.texmode_independent);
    ck_assert_uint_eq(module.address_size, 64);
    ck_assert_uint_eq(module.item_count, 0);
}

TEST(two_modules_in_one_text_are_two)
{
    struct text text = TEXT("// x\n" HEADER ".global .u32 a;\n" HEADER ".global .u32 b;\n\0\0");
    struct module_cursor cursor = {0};
    struct ptx_module module;

    ck_assert(module_parse(&module, &arena, "a", text, &cursor));
    ck_assert_uint_eq(module.item_count, 1);
    ck_assert_uint_eq(module.items[0].line, 5);
    ck_assert(!module_at_end(text, cursor.offset));
    ck_assert(module_parse(&module, &arena, "a", text, &cursor));
    ck_assert(text_equal(module.items[0].name, TEXT("b")));
    ck_assert_uint_eq(module.items[0].line, 9);
    ck_assert(module_at_end(text, cursor.offset));
}

static const struct {
    const char *text;
    size_t index;
    const char *name;
    uint8_t linkage, space, type;
    uint64_t size;
    uint32_t alignment;
} variable_cases[] = {
    {".global .align 16 .b8 a[3];", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_B8, 3, 16},
    {".visible .const .f64 a;", 0, "a", PTX_VISIBLE, PTX_SPACE_CONST, PTX_F64, 8, 8},
    {".extern .shared .b8 a[];", 0, "a", PTX_EXTERN, PTX_SPACE_SHARED, PTX_B8, 0, 1},
    {".global .u32 a[WARP_SZ];", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U32, 128, 4},
    {".common .global .u32 a;", 0, "a", PTX_COMMON, PTX_SPACE_GLOBAL, PTX_U32, 4, 4},
    {".weak .global .v4 .f32 a[2];", 0, "a", PTX_WEAK, PTX_SPACE_GLOBAL, PTX_F32, 32, 16},
    {".global .u32 a[] = {1, {2}, 3};", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U32, 12, 4},
    {".global .u16 a[][2] = {{1,2},{3}};", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U16, 8, 2},
    {".global .u32 a = 1, b[4] = {1, 2}, c;", 1, "b", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U32, 16,
     4},
    {".global .u32 a = 1, b[4] = {1, 2}, c;", 2, "c", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U32, 4,
     4},
    {".visible .global .texref a;", 0, "a", PTX_VISIBLE, PTX_SPACE_GLOBAL, PTX_TEXREF, 8, 8},
    {".align 8 .attribute(.managed) .global .u32 a;", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL,
     PTX_U32, 4, 8},
    {".visible .global .v2 .f32 a<12>, b;", 11, "a11", PTX_VISIBLE, PTX_SPACE_GLOBAL, PTX_F32, 8,
     8},
    {".visible .global .v2 .f32 a<12>, b;", 12, "b", PTX_VISIBLE, PTX_SPACE_GLOBAL, PTX_F32, 8, 8},
    {".global .attribute(.managed) .u32 a;", 0, "a", PTX_INTERNAL, PTX_SPACE_GLOBAL, PTX_U32, 4, 4},
};

TEST_LOOP(variables_have_space_type_and_size, COUNT(variable_cases))
{
    struct ptx_item variable = item(with_header(variable_cases[_i].text), variable_cases[_i].index);

    ck_assert(text_equal(variable.name, text_of(variable_cases[_i].name)));
    ck_assert_uint_eq(variable.linkage, variable_cases[_i].linkage);
    ck_assert_uint_eq(variable.variable.space, variable_cases[_i].space);
    ck_assert_uint_eq(variable.variable.type, variable_cases[_i].type);
    ck_assert_uint_eq(variable.variable.size, variable_cases[_i].size);
    ck_assert_uint_eq(variable.variable.alignment, variable_cases[_i].alignment);
}

TEST(attributes_are_understood)
{
    ck_assert(item(HEADER ".global .attribute(.managed) .u32 a;", 0).variable.is_managed);
    ck_assert_uint_eq(
        item(HEADER ".global .attribute(.unified(7, 8)) .u32 a;", 0).variable.unified[1], 8);
}

TEST(other_items_are_found)
{
    struct ptx_module module =
        parse(HEADER ".file 1 \"a.cu\", 12, 34\n.pragma \"a\", \"b\";\n.func f() {}\n"
                     ".visible .func g();\n.alias g, f;\n"
                     ".section .debug_str { $x: .b8 1,0 }\n");

    ck_assert_uint_eq(module.item_count, 6);
    ck_assert_uint_eq(module.items[0].kind, PTX_FILE);
    ck_assert_uint_eq(module.items[0].number, 1);
    ck_assert(text_equal(module.items[0].target, TEXT("\"a.cu\", 12, 34")));
    ck_assert(text_equal(module.items[1].target, TEXT("\"a\", \"b\"")));
    ck_assert_uint_eq(module.items[4].kind, PTX_ALIAS);
    ck_assert(text_equal(module.items[4].target, TEXT("f")));
    ck_assert_uint_eq(module.items[5].kind, PTX_SECTION);
    ck_assert(!module.has_full_debug);
    ck_assert(parse(HEADER ".section .debug_info { .b8 1 }").has_full_debug);
}

/* What libnvvm 13.0 writes for modules without line numbers beside one that has them names sections
 * and labels of its own only. */
TEST_LOOP(debug_sections_may_name_code, 6)
{
    static const struct {
        const char *sections;
        bool names_code;
    } cases[] = {
        {".section .debug_info { .b32 .debug_abbrev+49 .b8 1 }", false},
        {".section .debug_pubnames { .b32 b-a a: .b32 1 b: }", false},
        {".section .debug_info { .b64 k0 }", true},
        {".section .debug_info { .b64 l }", true},
        {".section .debug_loc { l: .b8 1 } .section .debug_info { .b32 l-m m: }", true},
        {".section .debug_info { .b64 k0 } .section .debug_abbrev { .b8 1 }", true},
    };

    ck_assert_int_eq(parse(with_header(cases[_i].sections)).debug_names_code, cases[_i].names_code);
}

static const struct {
    const char *text, *message;
} error_cases[] = {
    {".target sm_90\n", "a.ptx:1:1: expected '.version' at the beginning of a module"},
    {".version 9.0\n.global .u32 a;", "expected '.target' behind '.version', not '.global'"},
    {".version nine\n", "expected a version such as 9.0, not 'nine'"},
    {".version 9.0 .target gpu\n", "'gpu' is no architecture"},
    {".version 9.0\n.target sm_90\n.address_size 16", "address size is neither 32 nor 64"},
    {HEADER ".address_size 64", "expected a directive, function or variable, not '.address_size'"},
    {HEADER ";", "expected a directive, function or variable, not ';'"},
    {HEADER ".loc 1 2 3", "expected a directive, function or variable, not '.loc'"},
    {HEADER ".file 1 \"a\" .file 2 \"b\" .file 1 \"c\"", "a.ptx:4:25: Duplicate file index #1"},
    {HEADER ".file 3 \"a\" .file 1 \"b\" .file 2 \"c\" .file 3 \"d\"",
     "a.ptx:4:37: Duplicate file index #3"},
    {HEADER ".global a;", "a.ptx:4:9: expected a type, not 'a'"},
    {HEADER ".global .u32 ,;", "expected the name of a variable, not ','"},
    {HEADER ".global .u32 a", "expected ';', not the end of the text"},
    {HEADER ".global .u32 a[x];", "expected an array size, not 'x'"},
    {HEADER ".global .u32 a[99999999999999999999];", "expected an array size"},
    {HEADER ".global .u32 a[281474976710656][9];", "array is too large"},
    {HEADER ".global .u32 a[100000000000000];", "variable is too large"},
    {HEADER ".global .align 3 .u32 a;", "alignment is not a power of two"},
    {HEADER ".extern .global .u32 a = 1;", "an '.extern' variable has an initial value"},
    {HEADER ".reg .u32 a;", "'.reg' is not allowed outside of functions"},
    {HEADER ".func f() { ret;", "a.ptx:4:11: the body of function 'f' does not end"},
    {HEADER ".func f() {\nret;\n /* }", "a.ptx:6:2: this comment does not end"},
    {HEADER ".func f() {\nret; /* */", "a.ptx:4:11: the body of function 'f' does not end"},
    {HEADER ".func f() {\n} /", "a.ptx:5:3: expected a directive, function or variable, not '/'"},
    {HEADER ".section .debug_str {\n/*", "a.ptx:5:1: this comment does not end"},
    {HEADER ".global .u32 a[1] = {\n1 /* };", "a.ptx:5:3: this comment does not end"},
    {HEADER ".func f() .minnctapersm 1 {}",
     "expected ';' or the body of the function, not '.minnctapersm'"},
    {HEADER ".func f() .nonsense 1\n.func g() {}", "';' is missing at the end of the line"},
    {HEADER ".func f() .nonsense 1 .func g() {}",
     "expected ';' or the body of the function, not '.func'"},
    {HEADER ".common .func f();", "a function cannot be '.common'"},
    {HEADER ".section .debug_str { ", "section '.debug_str' does not end"},
    {HEADER ".global .u64 a[2][0] = {{1}};", "Non-external variable 'a' has incomplete type"},
    {HEADER ".global .u32 a<4000000000>;", "a.ptx:4:14: too many variables"},
    {HEADER ".global .u32 a<60>; .global .u32 b<60>;", "a.ptx:4:34: too many variables"},
    {HEADER ".shared .u32 a = 1;", "No initial value is allowed for 'a' in this state space"},
    {HEADER ".shared .attribute(.managed) .u32 a;",
     "a.ptx:4:35: Illegal attribute '.managed' for symbol 'a'"},
    {HEADER ".const .attribute(.unified(1, 2)) .u32 a;",
     "a.ptx:4:40: Illegal attribute '.unified' for symbol 'a'"},
    {HEADER ".global .attribute(.unified(1)) .u32 a;", "a.ptx:4:30: expected ',', not ')'"},
    {HEADER ".global .attribute(.unified(1, x)) .u32 a;",
     "a.ptx:4:32: expected a number of the unified identifier, not 'x'"},
    {HEADER ".global .attribute(.other) .u32 a;",
     "a.ptx:4:20: expected '.managed' or '.unified', not '.other'"},
    {HEADER ".func .attribute(.managed) f();", "a.ptx:4:18: expected '.unified', not '.managed'"},
    {HEADER ".const[11] .u32 a;", "the number of a constant bank is too large"},
    {HEADER ".global .u32 WARP_SZ;", "expected the name of a variable, not 'WARP_SZ'"},
    {HEADER ".global .u32 _;", "expected the name of a variable, not '_'"},
    {HEADER ".align 4 .u32 a;", "a.ptx:4:10: expected the space of a variable, not '.u32'"},
    {HEADER ".global .u32 a = ;", "a.ptx:4:18: expected an initial value, not ';'"},
    {HEADER ".global .u32 a = (1;", "a.ptx:4:20: expected ';' behind the initial value, not ';'"},
    {HEADER ".global .u32 a = 1};", "a.ptx:4:19: expected ';' behind the initial value, not '}'"},
    {HEADER ".global .u32 a = {1;", "a.ptx:4:18: '{' without '}'"},
    {HEADER ".file a \"b\"", "expected the number of a file, not 'a'"},
    {HEADER ".file 1 \"b\", a", "expected the time or size of a file, not 'a'"},
    {HEADER ".alias 1, b;", "expected the name of the alias, not '1'"},
    {HEADER ".alias a, 1;", "expected the name of the function behind the alias, not '1'"},
    {HEADER ".section 1 {}", "expected the name of a section, not '1'"},
    {".version 9.0\n.target 90", "expected an architecture such as sm_90, not '90'"},
    {".version 9.0\n.target sm_90, 1", "expected an option of .target, not '1'"},
    {HEADER ".alias a b;", "expected ',', not 'b'"},
    {HEADER "hello", "expected a directive, function or variable, not 'hello'"},
    {HEADER ".visible .visible .func f();", "expected a function or variable, not '.visible'"},
    {HEADER ".file 1 a.cu", "expected the name of a file, not 'a'"},
    {HEADER "/* open", "a.ptx:4:1: this comment does not end"},
};

TEST_LOOP(errors_say_what_was_expected_and_where, COUNT(error_cases))
{
    struct ptx_module module;
    struct module_cursor cursor = {0};
    const char *text;

    ck_assert(!module_parse(&module, &arena, "a.ptx", text_of(error_cases[_i].text), &cursor));
    text = messages_said();
    ck_assert_msg(strstr(text, error_cases[_i].message) != NULL, "%s", text);
    ck_assert_msg(messages.errors == 1, "%s", text);
    ck_assert_uint_eq(cursor.offset, strlen(error_cases[_i].text));
}

TEST(several_errors_are_reported_up_to_a_limit)
{
    struct ptx_module module;
    struct module_cursor cursor = {0};
    char text[4096] = HEADER;

    ck_assert(!module_parse(&module, &arena, "a",
                            TEXT(HEADER ".global a;\n.global .u32 good;\n.func (;\n.global b;"),
                            &cursor));
    ck_assert_uint_eq(messages.errors, 3);
    ck_assert_uint_eq(module.item_count, 1);
    for (int i = 0; i < 100; i++)
        strcat(text, ".global a;\n");
    cursor = (struct module_cursor){0};
    ck_assert(!module_parse(&module, &arena, "a", text_of(text), &cursor));
    ck_assert_uint_eq(messages.errors, 3 + 20);
}

static const struct {
    const char *text, *bytes; /* in hexadecimal */
} value_cases[] = {
    {".global .u32 a = 7;", "07000000"},
    {".global .s16 a[3] = {-1, 0x12345, +2};", "ffff45230200"},
    {".global .b8 a[4] = {1, 2};", "01020000"},
    {".global .u16 a[2][2] = {{1}, {2, 3}};", "0100000002000300"},
    {".global .u16 a[][2] = {{1}, {2, 3}};", "0100000002000300"},
    {".global .u8 a[] = {1, 2, 3};", "010203"},
    {".global .f32 a[4] = {0f3F800000, 1.5, .5, -1.};", "0000803f0000c03f0000003f000080bf"},
    {".global .f64 a[2] = {0d3FF0000000000000, 0f3F800000};", "000000000000f03f000000000000f03f"},
    {".global .b32 a[2] = {0f3F800000, 1.5};", "0000803f0000c03f"},
    {".global .b64 a[3] = {1.5, 0f3F800000, 2};",
     "000000000000f83f0000803f000000000200000000000000"},
    {".global .u64 a[4] = {-7  %  3, ~0<0, 1<<65, (0 ? 1U : -1)<0};",
     "0000000000000000000000000000000002000000000000000100000000000000"},
    {".global .f64 a[2] = {1.0+2.0*0.25, -0d3FF0000000000000};",
     "000000000000f83f000000000000f0bf"},
    {".global .u32 a[2] = {WARP_SZ*2, (1.0 < 2.0)};", "4000000001000000"},
    {".common .global .u32 a = 1;", "01000000"},
    {".global .v2 .u16 a[2] = {{1, 2}, {3, 4}};", "0100020003000400"},
    {".global .v2 .u16 a = {1, 2};", "01000200"},
    {".global .b128 a[2] = {-1, 2};",
     "ffffffffffffffff000000000000000002000000000000000000000000000000"},
    {".global .u32 a[2] = {};", "0000000000000000"},
    {".global .s64 a[6] = {5 ^ 3, 5 > 3, 6U / 4U, -8 / 2, 5 % 3U, 3 > 5};",
     "060000000000000001000000000000000100000000000000fcffffffffffffff02000000000000000000000000000"
     "000"},
    {".global .f64 a[3] = {5.0 - 2.0, 6.0 / 4.0, -(1.0)};",
     "0000000000000840000000000000f83f000000000000f0bf"},
    {".global .u32 a[6] = {1.0 == 1.0, 1.0 != 1.0, 2.0 > 1.0, 1.0 <= 2.0, 1.0 >= 2.0, !5};",
     "010000000000000001000000010000000000000000000000"},
    {".global .u64 a[3] = {(.u64)-1 > 0, (.s64)-1 > 0, 1 ? 2 : 3};",
     "010000000000000000000000000000000200000000000000"},
    /* What compares is signed, whatever it compares. */
    {".global .u64 a[3] = {((1U == 1U) - 2) / 2, ((1U != 2U) - 2) / 2, ((1U < 2U) - 2) / 2};",
     "000000000000000000000000000000000000000000000000"},
    {".global .u64 a[3] = {((2U > 1U) - 2) / 2, ((1U <= 1U) - 2) / 2, ((1U >= 1U) - 2) / 2};",
     "000000000000000000000000000000000000000000000000"},
    {".global .u64 a[3] = {((1U && 1U) - 2) / 2, ((1U || 0U) - 2) / 2, (1U - 2) / 2};",
     "00000000000000000000000000000000ffffffffffffff7f"},
    {".global .u8 a[8] = {6 & 3, 6 | 3, 6 ^ 3, 6 << 3, 6 >> 2, 6 + 3, 6 - 3, 6 * 3};",
     "0207053001090312"},
    {".global .u8 a[8] = {7 / 2, 7 % 4, 6 == 6, 6 == 3, 6 != 3, 6 != 6, 6 < 6, 3 < 6};",
     "0303010001000001"},
    {".global .u8 a[8] = {6 > 6, 6 > 3, 6 <= 6, 6 <= 3, 6 >= 6, 3 >= 6, 6 && 0, 6 && 3};",
     "0001010001000001"},
    {".global .u8 a[8] = {0 || 0, 0 || 3, 3 || 0, -8 >> 1, -1 < 0, -7 / 2, -7 % 2, !0};",
     "000101fc01fd0101"},
    {".global .u8 a[6] = {1.0 == 2.0, 1.0 != 2.0, 2.0 < 1.0, 1.0 > 2.0, 2.0 <= 1.0, 2.0 >= 1.0};",
     "000100000001"},
};

TEST_LOOP(initial_values_become_bytes, COUNT(value_cases))
{
    char hex[128] = "";
    struct ptx_module module = parse(with_header(value_cases[_i].text));
    struct initialiser value;

    ck_assert(initialiser_decode(&value, &arena, &module, &module.items[0]));
    for (size_t i = 0; i < value.size; i++)
        sprintf(hex + 2 * i, "%02x", value.bytes[i]);
    ck_assert_str_eq(hex, value_cases[_i].bytes);
    ck_assert_uint_eq(value.reference_count, 0);
}

/* From the weakest on; those of one row are as strong. */
static const char *const strengths[][4] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

/* The value of an expression; false where it has none, such as of a division by zero. */
static bool value_of(const char *expression, int64_t *result)
{
    struct ptx_module module;
    struct initialiser value;
    bool ok;

    module = parse(suite_print(HEADER ".global .s64 a = %s;", expression));
    ok = initialiser_decode(&value, &arena, &module, &module.items[0]);
    if (ok)
        memcpy(result, value.bytes, sizeof *result);
    return ok;
}

static void check_strength(size_t first, const char *a, size_t second, const char *b)
{
    static const int operands[][3] = {{7, 3, 2}, {2, 5, 1}, {1, 1, 0}, {0, 6, 4}, {4, 1, 1}};

    for (size_t i = 0; i < COUNT(operands); i++) {
        const int *x = operands[i];
        char plain[64], grouped[64];
        int64_t value, expected;

        snprintf(plain, sizeof plain, "%d %s %d %s %d", x[0], a, x[1], b, x[2]);
        snprintf(grouped, sizeof grouped, first >= second ? "(%d %s %d) %s %d" : "%d %s (%d %s %d)",
                 x[0], a, x[1], b, x[2]);
        if (value_of(grouped, &expected)) {
            ck_assert_msg(value_of(plain, &value), "%s", plain);
            ck_assert_msg(value == expected, "%s is %jd", plain, (intmax_t)value);
        }
    }
}

TEST(operators_have_the_strength_that_c_gives_them)
{
    for (size_t i = 0; i < COUNT(strengths); i++)
        for (size_t j = 0; j < COUNT(strengths); j++)
            for (size_t a = 0; a < COUNT(*strengths) && strengths[i][a]; a++)
                for (size_t b = 0; b < COUNT(*strengths) && strengths[j][b]; b++)
                    check_strength(i, strengths[i][a], j, strengths[j][b]);
}

TEST(addresses_become_references)
{
    struct ptx_module module =
        parse(HEADER ".global .u64 a[6] = {g, g+8, generic(f), 5, generic(g)+4, 0xFF00(g)};"
                     ".global .u8 b[2] = {0xFF(g), 0xFF00(generic(g)+3)};");
    struct initialiser value;

    ck_assert(initialiser_decode(&value, &arena, &module, &module.items[0]));
    ck_assert_uint_eq(value.size, 48);
    ck_assert_uint_eq(value.reference_count, 5);
    ck_assert(text_equal(value.references[0].symbol, TEXT("g")));
    ck_assert(value.references[0].mask == UINT64_MAX && !value.references[0].is_generic);
    ck_assert_int_eq(value.references[1].addend, 8);
    ck_assert(value.references[2].is_generic);
    ck_assert_uint_eq(value.references[2].offset, 16);
    ck_assert_int_eq(value.references[3].addend, 4);
    ck_assert_uint_eq(value.references[3].offset, 32);
    ck_assert_uint_eq(value.references[4].mask, 0xff00);
    ck_assert_uint_eq(value.bytes[24], 5);
    ck_assert(initialiser_decode(&value, &arena, &module, &module.items[1]));
    ck_assert_uint_eq(value.references[1].width, 1);
    ck_assert_uint_eq(value.references[1].offset, 1);
    ck_assert_int_eq(value.references[1].addend, 3);
}

static const struct {
    const char *text, *message;
} bad_value_cases[] = {
    {".global .u32 a[2] = {1,2,3};", "more elements than the variable has"},
    {".global .u32 a[2][2] = {1,2};", "expected '{'"},
    {".global .u32 a = {1};", "'{' where an element is expected"},
    {".global .u32 a[2] = 1;", "expected '{'"},
    {".global .f32 a = 1;", "Initial value type mismatch"},
    {".global .u32 a = 1.5;", "Initial value type mismatch"},
    {".global .u64 a = 99999999999999999999;", "Number of more than 64 bits"},
    {".global .u16 a = g;", "an address in an element that is neither .u64 nor .u32"},
    {".global .b64 a = g;", "an address in an element that is neither .u64 nor .u32"},
    {".global .s64 a = generic(g);", "an address in an element that is neither .u64 nor .u32"},
    {".global .b8 a[2] = {0xFF(g), 1};", "a byte of an address in an element that is not .u8"},
    {".global .u8 a = 0xF(g);", "a mask that is not one byte"},
    {".global .u64 a = g+;", "A number was expected"},
    {".global .b8 a[4294967297] = {1};", "too many bytes"},
    {".global .f16 a = 1.0;", "No initial value is allowed for a half"},
    {".global .f16x2 a = 1;", "No initial value is allowed for a half"},
    {".global .u64 a = generic(1);", "expected a name"},
    {".global .u8 a[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1] = {};", "too many dimensions"},
    {".global .u64 a = g+1.0;", "expected an offset"},
    {".global .u64 a = g+0f3F800000;", "expected an offset"},
    {".global .u64 a = g-4;", "more than one value"},
    {".global .v2 .u32 a = {1};", "fewer elements than the vector has"},
    {".global .u64 a = generic g;", "expected '('"},
    {".global .u64 a[2] = {1 2};", "expected ',' or '}'"},
    {".global .u64 a[2] = {1,};", "A number was expected"},
    {".global .u64 a = 1.0 & 2.0;", "Integer constant expression expected"},
    {".global .u64 a = ~1.0;", "Integer constant expression expected"},
    {".global .u64 a = (.s64)1.0;", "Integer constant expression expected"},
    {".global .u64 a = 1 ? 2.0 : 3.0;", "Integer constant expression expected"},
    {".global .u64 a = 1 ? 2;", "':' expected"},
    {".global .u64 a = 1 ? (2 4) : 3;", "')' expected behind the expression"},
    {".global .u64 a = 1 ? 2 : (3 4);", "')' expected behind the expression"},
    {".global .u64 a = (.s64 1);", "')' expected behind the type of a cast"},
    {".global .u64 a = (.b64)1;", "Unsupported cast operation"},
    {".global .u64 a = (1 2);", "')' expected behind the expression"},
    {".global .u64 a = 1 + 1.0;", "Constant expression type mismatch"},
    {".global .u64 a = 1 / (2 - 2);", "Constant expression has division by zero"},
    {".global .u64 a = 0f3F800000 + 1.0;", "Bit pattern (0f) that does not stand alone"},
    {".global .u64 a = -0f3F800000;", "Bit pattern (0f) that does not stand alone"},
    {".global .u64 a = ((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))));",
     "Expression nested too deeply"},
};

TEST_LOOP(bad_initial_values_are_refused, COUNT(bad_value_cases))
{
    struct ptx_module module = parse(with_header(bad_value_cases[_i].text));
    struct initialiser value;

    ck_assert(!initialiser_decode(&value, &arena, &module, &module.items[0]));
    ck_assert_uint_eq(messages.errors, 1);
    ck_assert_msg(strstr(messages_said(), bad_value_cases[_i].message) != NULL, "%s",
                  messages_said());
}

/* The time that errors take must not grow with what stands in front of them; a page of it may be
 * read, as memrchr() does with some bytes. */
TEST(what_stands_in_front_of_an_item_is_not_read_for_its_errors)
{
    static const char value[] = "\n.global .u32 a, b,\n  c = \n 1 +;";
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page + strlen(value);
    struct module_cursor cursor = {0};
    char *text = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ptx_module module;
    struct initialiser result;
    struct diag_place place, found;

    ck_assert_ptr_ne(text, MAP_FAILED);
    memset(text, '\n', 2 * page);
    memcpy(text, HEADER, strlen(HEADER));
    strcpy(text + 2 * page, value);
    ck_assert(module_parse(&module, &arena, "a.ptx", (struct text){text, size}, &cursor));
    ck_assert_int_eq(mprotect(text, page, PROT_NONE), 0);
    place = source_ptx_place(&module, &module.items[1], module.items[1].name.data);
    found = diag_place_find(&place);
    ck_assert_uint_eq(found.line, module.items[0].line);
    ck_assert_uint_eq(found.column, strlen(".global .u32 a, b"));
    ck_assert(!initialiser_decode(&result, &arena, &module, &module.items[2]));
    snprintf(text + page, page, "a.ptx:%u:5: ", module.items[0].line + 2);
    ck_assert_msg(strstr(messages_said(), text + page) != NULL, "%s", messages_said());
    munmap(text, 3 * page);
}
