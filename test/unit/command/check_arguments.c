/* Tests of the forms that options may have: all of nvlink's on a command line, by getopt; those of
 * one word in a list that the library looks up. */
#include <getopt.h>

#include "command/option_table.h"
#include "options_fixture.h"

static void begin(void)
{
    forget_options();
    options_begin(&options);
}

/* Reads words that end with NULL as a command line. */
static bool read_line(const char *const *words)
{
    begin();
    return read_words(words);
}
#define READ_LINE(...) read_line((const char *const[]){__VA_ARGS__, NULL})

/* What was read is the row's option, with the value, whether or not it is one that the row takes.
 */
static void check_given(const struct option_row *row, const char *value, const char *form)
{
    ck_assert_msg(options.given_count == 1 && options.given->row == row, "%s is not %s", form,
                  row->name);
    if (value)
        ck_assert_msg(options.given->value && strcmp(options.given->value, value) == 0,
                      "%s has the value %s", form, options.given->value);
    else
        ck_assert_msg(!options.given->value, "%s has the value %s", form, options.given->value);
}

/* The value that a row without one has. */
static const char *missing(const struct option_row *row, char *value)
{
    const char *first = row->argument ? row->argument + 1 : "";

    if (!row->argument)
        return NULL;
    sprintf(value, "%.*s", row->effect.kind == OPTION_STRING ? 0 : (int)strcspn(first, "|"), first);
    return value;
}

/* A name behind each number of dashes, with its value joined, behind it, or missing. */
static void try_name(const struct option_row *row, const char *name)
{
    static const char value[] = "-v,1=2";
    char form[128], first[64];

    for (int dashes = 1; dashes <= 2; dashes++) {
        snprintf(form, sizeof form, "%.*s%s", dashes, "--", name);
        READ_LINE(form, value);
        if (option_takes_argument(row)) {
            check_given(row, value, form);
            ck_assert(!READ_LINE(form));
            begin();
            ck_assert(!options_add_word(&options, form));
            ck_assert_uint_eq(options.given_count, 0);
        } else {
            READ_LINE(form);
            check_given(row, missing(row, first), form);
            begin();
            options_add_word(&options, form);
            check_given(row, missing(row, first), form);
        }
        snprintf(form, sizeof form, "%.*s%s=%s", dashes, "--", name, value);
        READ_LINE(form);
        if (row->argument)
            check_given(row, value, form);
        else
            ck_assert_uint_eq(options.given_count, 0);
        begin();
        ck_assert(options_add_word(&options, form) <= (row->argument != NULL));
        if (row->argument)
            check_given(row, value, form);
    }
}

TEST_LOOP(both_names_have_one_dash_or_two_and_their_value_joined_or_behind, (int)option_table_size)
{
    const struct option_row *row = &option_table[_i];

    if (row->effect.kind == OPTION_FILES)
        return;
    try_name(row, row->name);
    if (row->short_name)
        try_name(row, row->short_name);
}

/* What begins a name is no option, but where it is another name, or a letter with its value. */
TEST_LOOP(a_name_cannot_be_cut_short, (int)option_table_size)
{
    const struct option_row *row = &option_table[_i], *found;
    char form[128];
    const char *value;

    for (size_t size = strlen(row->name) - 1; size > 0; size--) {
        snprintf(form, sizeof form, "--%.*s", (int)size, row->name);
        if (!option_table_find(form, &value)) {
            ck_assert_msg(!READ_LINE(form, "x"), "%s is taken", form);
            ck_assert_uint_eq(options.given_count, 0);
        }
        snprintf(form, sizeof form, "-%.*s", (int)size, row->name);
        found = option_table_find(form, &value);
        READ_LINE(form, "x");
        ck_assert_msg(found ? options.given->row == found : options.given_count == 0,
                      "%s is taken for another option", form);
    }
}

TEST(letters_have_their_value_joined)
{
    static const struct {
        const char *word, *name, *value;
    } letters[] = {{"-lfoo", "library", "foo"},
                   {"-library.a", "library", "ibrary.a"},
                   {"-l:lib.a,m", "library", ":lib.a,m"},
                   {"-L/a,/b", "library-path", "/a,/b"},
                   {"-outer", "output-file", "uter"},
                   {"-o-", "output-file", "-"},
                   {"-oa=b", "output-file", "a=b"},
                   {"-l=x", "library", "x"},
                   {"-m64", "machine", "64"},
                   {"-j16", "threads", "16"},
                   {"-yname", "trace-symbol", "name"}};
    static const char *const none[] = {"-mx", "-j2x",           "-gx",    "-v1",
                                       "-rx", "-use_fast_math", "--lfoo", "--m64"};

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        READ_LINE(letters[i].word);
        ck_assert_uint_eq(options.given_count, 1);
        ck_assert_str_eq(options.given->row->name, letters[i].name);
        ck_assert_str_eq(options.given->value, letters[i].value);
        begin();
        options_add_word(&options, letters[i].word);
        ck_assert_uint_eq(options.given_count, 1);
        ck_assert_str_eq(options.given->row->name, letters[i].name);
        ck_assert_str_eq(options.given->value, letters[i].value);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(!READ_LINE(none[i]), "%s", none[i]);
        begin();
        ck_assert_msg(!options_add_word(&options, none[i]), "%s", none[i]);
    }
}

/* The operands in one text, each behind a blank and, where it is a library, -l. */
static void check_operands(const char *expected)
{
    char text[256] = "";

    for (size_t i = 0; i < options.link.operand_count; i++)
        sprintf(text + strlen(text), "%s%s ", options.link.operands[i].is_library ? "-l" : "",
                options.link.operands[i].name);
    ck_assert_str_eq(text, expected);
}

TEST(operands_and_libraries_keep_their_order)
{
    ck_assert(READ_LINE("a.o", "-lb", "-w", "c.a", "-l", "d,e", "-", "-o", "x", "", "-library=f"));
    check_operands("a.o -lb c.a -ld -le -  -lf ");
    ck_assert_str_eq(options.link.output, "x");
    ck_assert(options.disable_warnings);
}

TEST(two_dashes_end_the_options)
{
    ck_assert(READ_LINE("a", "-w", "--", "-v", "--", "-lb", "--none"));
    check_operands("a -v -- -lb --none ");
    ck_assert(options.disable_warnings && !options.verbose);
    ck_assert(READ_LINE("-o", "--", "-w", "a"));
    check_operands("a ");
    ck_assert_str_eq(options.link.output, "--");
    ck_assert(options.disable_warnings);
}

/* A file's words end where the file does. */
TEST(files_of_options_stand_in_their_place)
{
    static const char text[] = "b -w -- -c";
    char option[64], joined[64];
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fflush(file);
    snprintf(option, sizeof option, "/proc/self/fd/%d", fileno(file));
    snprintf(joined, sizeof joined, "--options-file=/proc/self/fd/%d", fileno(file));
    ck_assert(READ_LINE("a", "-optf", option, "d", "-v", joined, "e", "-ox"));
    check_operands("a b -c d b -c e ");
    ck_assert(options.verbose == 1 && options.disable_warnings);
    ck_assert_str_eq(options.link.output, "x");
    ck_assert_uint_eq(options.response.file_count, 2);
    begin();
    ck_assert(!options_add_word(&options, joined));
    fclose(file);
}

TEST(a_command_line_without_words_is_empty)
{
    ck_assert(read_line((const char *const[]){NULL}));
    ck_assert_uint_eq(options.link.operand_count + options.given_count, 0);
    ck_assert(arguments_read(&options, &(struct arguments){0, (char *[]){NULL}}));
}

/* A program that looks at its own words meanwhile finds getopt as it left it. */
TEST(what_is_looked_up_leaves_getopt_alone)
{
    static const char *const words[] = {"-arch=sm_90", "-lb", "c.o", "-none", "-optf=x"};

    optind = 7;
    opterr = 1;
    optopt = 'x';
    optarg = (char[]){"kept"};
    begin();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        options_add_word(&options, words[i]);
    options_end(&options);
    ck_assert(optind == 7 && opterr == 1 && optopt == 'x');
    ck_assert_str_eq(optarg, "kept");
    check_operands("-lb c.o ");
}
