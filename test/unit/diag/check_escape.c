/* check_escape.c: what a terminal obeys is spelled out, and nothing else is changed. */
#include "diag/escape.h"

#include "diag/diag.h"
#include "suite.h"

static void shows(struct text text, const char *expected)
{
    OWNED(buffer) out = {0};

    escape_text(text, &out);
    buffer_char(&out, '\0');
    ck_assert_str_eq(out.data, expected);
    ck_assert_int_eq(escape_is_plain(text),
                     strcmp(out.data, expected) == 0 && text_equal(text, text_of(expected)));
}

TEST(control_characters_are_spelled_out)
{
    shows(TEXT("a\033[31mb"), "a\\x1b[31mb");
    shows(TEXT("a\nb\r\n"), "a\\nb\\r\\n");
    shows(TEXT("\x7f\0\b"), "\\x7f\\x00\\x08");
    shows(TEXT("tab\tand \\x1b stay"), "tab\tand \\x1b stay");
    shows((struct text){0}, "");
}

TEST(utf8_stays_but_for_its_control_characters)
{
    shows(TEXT("gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0 \xf0\x9f\x99\x82"),
          "gr\xc3\xbc\xc3\x9f \xe4\xbd\xa0 \xf0\x9f\x99\x82");
    shows(TEXT("\xc2\x9b"), "\\xc2\\x9b");
    shows(TEXT("\xc2\xa0"), "\xc2\xa0");
    shows(TEXT("\xe2\x80\xae"), "\\xe2\\x80\\xae");
    shows(TEXT("\xe2\x81\xa9"), "\\xe2\\x81\\xa9");
}

TEST(what_is_no_utf8_is_spelled_out)
{
    shows(TEXT("\x9b"), "\\x9b");
    shows(TEXT("\xc3"), "\\xc3");
    shows(TEXT("\xc1\x9b"), "\\xc1\\x9b");
    shows(TEXT("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
    shows(TEXT("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    shows(TEXT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    shows(TEXT("\xf8\x88\x80\x80\x80"), "\\xf8\\x88\\x80\\x80\\x80");
    shows(TEXT("\xc3\xbc\x80"), "\xc3\xbc\\x80");
}

TEST(utf8_is_known_whether_it_is_shown_or_not)
{
    ck_assert(
        escape_is_utf8(TEXT("a\033\n\xc2\x9b \xe2\x80\xae \xf0\x9f\x99\x82\xf4\x8f\xbf\xbf")));
    ck_assert(escape_is_utf8((struct text){0}));
    ck_assert(!escape_is_utf8(TEXT("\x80")));
    ck_assert(!escape_is_utf8(TEXT("a\xc3")));
    ck_assert(!escape_is_utf8(TEXT("\xc0\xaf")));
    ck_assert(!escape_is_utf8(TEXT("\xed\xa0\x80")));
    ck_assert(!escape_is_utf8(TEXT("\xf4\x90\x80\x80")));
}

TEST(no_byte_of_any_pair_can_control_a_terminal)
{
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        char bytes[2] = {(char)(pair >> 8), (char)(pair & 255)};
        OWNED(buffer) out = {0};

        escape_text((struct text){bytes, 2}, &out);
        for (size_t i = 0; i < out.size; i++) {
            unsigned char c = (unsigned char)out.data[i];

            ck_assert(c == '\t' || (c >= ' ' && c != 0x7f));
        }
        ck_assert(escape_is_plain(buffer_view(&out)));
    }
}

TEST(ends_of_lines_can_be_kept)
{
    OWNED(buffer) out = {0};

    escape_lines(TEXT("a\n\tb\r\nc\rd\033\n"), &out);
    ck_assert(text_equal(buffer_view(&out), TEXT("a\n\tb\r\nc\\rd\\x1b\n")));
}

TEST(a_message_is_one_line_whatever_is_in_it)
{
    struct diag_state *state = diag_state_get();
    OWNED(diag_sink) sink = {0};
    struct diag_place place = {
        .file = "a\n.o", .line = 1, .column = 5, .source_line = TEXT("\xc3\xbc\033\tx\x9b")};

    state->sink = &sink;
    diag_at(DIAG_ERROR, &place, "wrong: %s", "\033[2J");
    state->sink = NULL;
    ck_assert_uint_eq(sink.errors, 1);
    buffer_char(&sink.text, '\0');
    ck_assert_str_eq(
        sink.text.data,
        "minilink error   : a\\n.o:1:5: wrong: \\x1b[2J\n    \xc3\xbc?\tx?\n      \t^\n");
}
