/* check_lexer.c: tokens and numbers. */

#include "ptx/lexer.h"
#include "suite.h"

/* Writes the kinds of all tokens as one letter each: w . n s b, and marks as themselves. */
static const char *kinds(struct text text, char *out)
{
    static const char letters[] = {'$', 'w', '.', 'n', 's', '?', 'b'};
    struct lexer lexer = lexer_at(text, 0);
    struct token token;
    char *at = out;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END)
        *at++ = token.kind == TOKEN_MARK ? token.mark : letters[token.kind];
    *at = '\0';
    return out;
}

static const struct {
    const char *text, *kinds;
} token_cases[] = {
    {"", ""},
    {" \t\r\n\v\f", ""},
    {"ld.global.u32 %r1, [%rd1+4];", "w..w,[w+n];"},
    {"ld.shared::cta.u32 %r1,[x];", "w..w,[w];"},
    {"ld.L2::cache_hint.b32", "w.."},
    {"@!%p1 bra $L__BB0_1;", "@!www;"},
    {".version 9.0\r\n.target sm_90a, debug\r\n", ".n.w,w"},
    {"a // b c\nd", "ww"},
    {"a /* b \n * / c */ d", "ww"},
    {"a /**/ b", "ww"},
    {"a /*/ b", "wb"},
    {"a / b", "w/w"},
    {"// at the end", ""},
    {"/* open", "b"},
    {".file 1 \"a \\\" b.cu\"", ".ns"},
    {"\"open\n a", "bww"},
    {"0x1fU 0b101 017 12U 1.5 2e-3 0f3F800000 0d3FF0000000000000", "nnnnnnnn"},
    {"1.f", "n."},
    {".1d.v4", ".."},
    {"%r<20>", "w<n>"},
    {"_ $ % %% a%b", "wwwwwww"},
    {"\x80 \\", "b\\"},
    {". .", "bb"},
    {"(a,b)?:={}[]~^|&!*-+<>", "(w,w)?:={}[]~^|&!*-+<>"},
    {"lbl:", "w:"},
    {"a::b", "w::w"},
};

TEST_LOOP(text_becomes_tokens, COUNT(token_cases))
{
    char out[128];

    ck_assert_str_eq(kinds(text_of(token_cases[_i].text), out), token_cases[_i].kinds);
}

TEST(nul_is_a_blank)
{
    char out[16];

    ck_assert_str_eq(kinds((struct text){"a\0b\0\0", 5}, out), "ww");
}

TEST(tokens_have_places_and_text)
{
    struct text text = TEXT("  add.s32 x");
    struct lexer lexer = lexer_at(text, 5);
    struct token token = lexer_next(&lexer);

    ck_assert_uint_eq(token.offset, 5);
    ck_assert_uint_eq(token.size, 4);
    ck_assert(lexer_is(&lexer, token, TEXT(".s32")));
    ck_assert_uint_eq(lexer_peek(&lexer).offset, 10);
    ck_assert(text_equal(lexer_text(&lexer, lexer_next(&lexer)), TEXT("x")));
    ck_assert_uint_eq(lexer_next(&lexer).kind, TOKEN_END);
    ck_assert_uint_eq(lexer_next(&lexer).offset, text.size);
}

static const struct {
    const char *text;
    enum constant_kind kind;
    uint64_t value;
} number_cases[] = {
    {"0", CONSTANT_SIGNED, 0},
    {"12", CONSTANT_SIGNED, 12},
    {"12U", CONSTANT_UNSIGNED, 12},
    {"017", CONSTANT_SIGNED, 15},
    {"0x1F", CONSTANT_SIGNED, 31},
    {"0x1fU", CONSTANT_UNSIGNED, 31},
    {"0b101", CONSTANT_SIGNED, 5},
    {"18446744073709551615", CONSTANT_UNSIGNED, UINT64_MAX},
    {"18446744073709551616", CONSTANT_TOO_LARGE, 0},
    {"0x1ffffffffffffffff", CONSTANT_TOO_LARGE, 0},
    {"0f3F800000", CONSTANT_SINGLE, 0x3f800000},
    {"0F3f800000", CONSTANT_SINGLE, 0x3f800000},
    {"0f3F80000", CONSTANT_NONE, 0},
    {"0f3F8000000", CONSTANT_NONE, 0},
    {"0d3FF0000000000000", CONSTANT_DOUBLE, UINT64_C(0x3ff0000000000000)},
    {"1.5", CONSTANT_DOUBLE, UINT64_C(0x3ff8000000000000)},
    {"1.", CONSTANT_DOUBLE, UINT64_C(0x3ff0000000000000)},
    {"5e-1", CONSTANT_DOUBLE, UINT64_C(0x3fe0000000000000)},
    {"08", CONSTANT_NONE, 0},
    {"0b2", CONSTANT_NONE, 0},
    {"0x", CONSTANT_NONE, 0},
    {"12ab", CONSTANT_NONE, 0},
    {"1d5", CONSTANT_NONE, 0},
    {"0x1g", CONSTANT_NONE, 0},
    {"0x1FUU", CONSTANT_NONE, 0},
    {"0xaF", CONSTANT_SIGNED, 0xaf},
    {"0b102", CONSTANT_NONE, 0},
    {"0b1U", CONSTANT_UNSIGNED, 1},
    {"0U", CONSTANT_UNSIGNED, 0},
    {"00", CONSTANT_SIGNED, 0},
    {"9", CONSTANT_SIGNED, 9},
    {"1a", CONSTANT_NONE, 0},
    {"U", CONSTANT_NONE, 0},
    {"", CONSTANT_NONE, 0},
    {"0xffffffffffffffff", CONSTANT_UNSIGNED, UINT64_MAX},
    {"0x10000000000000000", CONSTANT_TOO_LARGE, 0},
    {"18446744073709551619", CONSTANT_TOO_LARGE, 0},
    {"99999999999999999999x", CONSTANT_NONE, 0},
    {"0d3FF000000000000", CONSTANT_NONE, 0},
    {"0D4000000000000000", CONSTANT_DOUBLE, UINT64_C(0x4000000000000000)},
    {"1e2", CONSTANT_DOUBLE, UINT64_C(0x4059000000000000)},
    {"1.5U", CONSTANT_NONE, 0},
    {"5E-1", CONSTANT_DOUBLE, UINT64_C(0x3fe0000000000000)},
    {"1.5.5", CONSTANT_NONE, 0},
};

TEST_LOOP(numbers_convert, COUNT(number_cases))
{
    struct constant constant = lexer_number(text_of(number_cases[_i].text));

    ck_assert_int_eq(constant.kind, number_cases[_i].kind);
    if (constant.kind != CONSTANT_NONE && constant.kind != CONSTANT_TOO_LARGE)
        ck_assert_uint_eq(constant.bits, number_cases[_i].value);
}

/* Of 127 bytes at most. */
TEST(floats_have_few_digits)
{
    char text[129] = "1.";

    memset(text + 2, '0', 125);
    ck_assert_int_eq(lexer_number((struct text){text, 127}).kind, CONSTANT_DOUBLE);
    ck_assert_uint_eq(lexer_number((struct text){text, 127}).bits, UINT64_C(0x3ff0000000000000));
    text[127] = '0';
    ck_assert_int_eq(lexer_number((struct text){text, 128}).kind, CONSTANT_NONE);
}

TEST(braces_are_skipped_with_their_strings_and_comments)
{
    struct text text = TEXT("{ { } \"}\" // }\n /* } */ a/b } x");
    struct lexer lexer = lexer_at(text, 1);

    ck_assert(lexer_skip_braces(&lexer));
    ck_assert(lexer_is(&lexer, lexer_next(&lexer), TEXT("x")));
}

TEST(open_braces_end_with_the_text)
{
    static const char *const texts[] = {"{", "{ {}", "{ /* }", "{ // }", "{ \"}\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lexer lexer = lexer_at(text_of(texts[i]), 1);

        ck_assert_msg(!lexer_skip_braces(&lexer) || i == 4, "%s", texts[i]);
        /* One comes to a comment that is not closed. */
        ck_assert_uint_eq(lexer_next(&lexer).kind, i == 2 ? TOKEN_BAD : TOKEN_END);
    }
}

TEST(lines_are_counted_between_places)
{
    struct text text = TEXT("a\nb\nc\n");

    ck_assert_uint_eq(text_count_lines(text, 0, 6), 3);
    ck_assert_uint_eq(text_count_lines(text, 2, 3), 0);
    ck_assert_uint_eq(text_count_lines(text, 1, 4), 2);
    ck_assert_uint_eq(text_count_lines(text, 4, 400), 1);
    ck_assert_uint_eq(text_count_lines(text, 5, 2), 0);
}
