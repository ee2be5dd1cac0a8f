/* check_stored.c: the words of stored options, those that change no code, and which are equal. */
#include "options/consensus.h"

#include "suite.h"

static struct arena arena;

void tear_down(void)
{
    arena_free(&arena);
}

static const char *said(struct stored_options options)
{
    const char *text = "";

    stored_finish(&options);
    ck_assert_ptr_null(options.words[options.count]);
    for (size_t i = 0; i < options.count; i++)
        text = arena_printf(&arena, "%s[%s]", text, options.words[i]);
    return text;
}

/* What nvcc 13.0 stores, and what nvlink 13.0 was measured to make of blanks, tabs and quotes. */
static const struct {
    const char *options;
    const char *words;
} rows[] = {
    {"", ""},
    {"--compile-only  ", ""},
    {"--compile-only  -maxrregcount=32 ", "[-maxrregcount=32]"},
    {"-dlcm=cv --compile-only  ", "[-dlcm=cv]"},
    {"--compile-only  --fmad false ", "[--fmad][false]"},
    {"--compile-only  -g --dont-merge-basicblocks --return-at-end ",
     "[-g][--dont-merge-basicblocks][--return-at-end]"},
    {" \t-O1\t \"-a b\" ", "[-O1][\"-a][b\"]"},
    {"-O1\n-O2", "[-O1\n-O2]"},
    {"a", "[a]"},
    {"a b", "[a][b]"},
    {"c v w", "[c][v][w]"},
    {"-c -v -O1 --verbose --disable-warnings -lineinfo --generate-line-info -w",
     "[-O1][-lineinfo][-v][-w]"},
};

TEST_LOOP(strings_are_cut_at_blanks, COUNT(rows))
{
    ck_assert_str_eq(said(stored_read(&arena, text_of(rows[_i].options))), rows[_i].words);
}

TEST(a_nul_ends_the_string)
{
    ck_assert_str_eq(said(stored_read(&arena, TEXT("-O1 -a\0b -c"))), "[-O1][-a]");
}

static bool are_equal(const char *a, const char *b)
{
    const struct stored_options one = stored_read(&arena, text_of(a));
    const struct stored_options other = stored_read(&arena, text_of(b));

    return stored_are_equal(&one, &other);
}

TEST(what_changes_code_divides)
{
    ck_assert(are_equal("", "--compile-only  "));
    ck_assert(are_equal("-v -O1 -w", "-lineinfo -O1"));
    ck_assert(!are_equal("-O1", ""));
    ck_assert(!are_equal("", "-O1"));
    ck_assert(!are_equal("-O1 -O2", "-O2 -O1"));
    ck_assert(!are_equal("-maxrregcount=32", "-maxrregcount 32"));
    ck_assert(!are_equal("-maxrregcount=32", "-maxrregcount=33"));
    ck_assert(!are_equal("-split-compile=2", "-split-compile=4")); /* other clones of functions */
}

static const char *united(const char *a, const char *b)
{
    struct stored_options one = stored_read(&arena, text_of(a));
    const struct stored_options other = stored_read(&arena, text_of(b));

    stored_unite(&one, &other);
    return said(one);
}

TEST(warnings_are_hidden_where_all_want_it)
{
    ck_assert_str_eq(united("-O1 -v", "-lineinfo -O1"), "[-O1][-lineinfo][-v]");
    ck_assert_str_eq(united("-w", ""), "");
    ck_assert_str_eq(united("", "-w"), "");
    ck_assert_str_eq(united("-w -v", "-w"), "[-v][-w]");
}
