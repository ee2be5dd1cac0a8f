/* check_source_place.c: where messages say that something is: lines of the sources by .loc, else of
 * the PTX. */

#include "ptx/internal.h"
#include "suite.h"

static const struct {
    const char *text, *name;
    int offset; /* -1: it is not there */
} words[] = {
    {"f", "f", 0},       {"call fa, f;", "f", 9}, {"ff f", "f", 3}, {"f$ $f _f f", "f", 9},
    {"f.x", "f", 0},     {"f1 1f f", "f", 6},     {"af", "f", -1},  {"fa", "f", -1},
    {"f", "", -1},       {"", "f", -1},           {"f", "ff", -1},  {"(f)", "f", 1},
    {"ff fff", "f", -1}, {"abab ab", "ab", 5},
};

TEST_LOOP(names_are_whole_words, COUNT(words))
{
    const struct ptx_item item = {.text = text_of(words[_i].text)};
    const char *at = source_find(&item, text_of(words[_i].name));

    ck_assert_int_eq(at ? (int)(at - words[_i].text) : -1, words[_i].offset);
}

static const struct {
    const char *body, *loc;
} locs[] = {
    {"", ""},
    {"{ ret; }", ""},
    {"{ .loc 1 2 3\n ret; .loc 4 5 6\n }", ".loc 1 2 3"},
    {"{ .location 1 2 3 .loc\t4  5\t6 }", ".loc\t4  5\t6"},
    {"{ .loc 1 2 x }", ""},
    {"{ .loc 1 2", ""},
    {".loc", ""},
    {".loc ", ""},
    {".loc 1 4294967295 3", ".loc 1 4294967295 3"},
    {".loc 1 4294967296 3", ""},
};

TEST_LOOP(the_first_loc_has_three_numbers, COUNT(locs))
{
    const struct ptx_item item = {.function.body = text_of(locs[_i].body)};
    struct text loc = source_first_loc(&item);

    ck_assert_msg(text_equal(loc, text_of(locs[_i].loc)), "%.*s", TEXT_ARG(loc));
}

/* Lines of the function are numbered from 7; its body begins in the second. */
static const char program[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                              ".file 1 \"a.cu\", 12, 34\n.file 2 \"\"\n\n"
                              ".func f()\n{ first;\n.loc 1 5 6\nsecond;\n.loc 3 7 8\nthird;\n"
                              ".loc 2 7 8\nfourth;\n.loc 1 9 1 \tfifth; .loc 1 10 1\n}\n";

static const struct {
    const char *at, *place; /* NULL: nothing more is known than the function */
} places[] = {
    {NULL, "a.cu:5:6"},     {".func", "a.ptx:7:0"},  {"first", "a.ptx:8:0"},
    {"second", "a.cu:5:6"}, {"third", "a.ptx:12:0"}, {"fourth", "a.ptx:14:0"},
    {"fifth", "a.cu:9:1"},  {"10 1\n", "a.cu:10:1"}, {".version", "a.ptx:7:0"},
};

TEST_LOOP(places_are_those_of_the_last_loc, COUNT(places))
{
    const char *at = places[_i].at ? strstr(program, places[_i].at) : NULL;
    OWNED(arena) arena = {0};
    struct ptx_module module;
    struct diag_place place;
    struct module_cursor cursor = {0};

    ck_assert(module_parse(&module, &arena, "a.ptx", text_of(program), &cursor));
    place = source_place(&module, &module.items[module.item_count - 1], at, &arena);
    ck_assert_str_eq(suite_print("%s:%u:%u", place.file, place.line, place.column),
                     places[_i].place);
}
