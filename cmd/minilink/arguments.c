/* arguments.c: getopt finds options, their values and operands; the option table says which options
 * there are.
 *
 * getopt gets only long names, including the letters. Each option's name is looked up before getopt
 * sees it: getopt accepts unambiguous abbreviations, and nvlink does not. A letter joined with its
 * value is rewritten as "-l=NAME", since "-library" would be the name of an option, and "-outer"
 * begin one. */
#include "program.h"

#include <getopt.h>
#include <string.h>

#include "command/option_table.h"
#include "command/options.h"

/* getopt returns 1 for an operand; the codes of rows begin here. */
#define FIRST_ROW 256

struct reader {
    struct options *options;
    const struct option *list; /* for getopt */
};

/* Each row under its one or two names; ends with an empty one. */
static const struct option *make_list(struct arena *arena)
{
    struct option *list = arena_zalloc(arena, 2 * option_table_size + 1, sizeof *list);
    size_t count = 0;

    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];
        struct option option = {.name = row->name, .val = FIRST_ROW + (int)i};

        option.has_arg = option_takes_argument(row) ? required_argument
                         : row->argument            ? optional_argument
                                                    : no_argument;
        list[count++] = option;
        option.name = row->short_name;
        if (option.name)
            list[count++] = option;
    }
    return list;
}

/* Checks the word that getopt reads next: "--", an operand, or an option that the table has. */
static bool prepare_word(struct reader *reader, char **word)
{
    const struct option_row *row;
    const char *value;

    if ((*word)[0] != '-' || (*word)[1] == '\0' || strcmp(*word, "--") == 0)
        return true;
    row = option_table_find(*word, &value);
    if (!row)
        return suggestions_unknown(*word);
    if (value == *word + 2)
        *word = arena_printf(&reader->options->arena, "-%c=%s", (*word)[1], value);
    return true;
}

static bool read_response_words(struct reader *reader, const struct response_file *words);

/* getopt begins at the second word. */
static void begin_words(struct arena *arena, struct response_file *words)
{
    static char program[] = "minilink";

    ARENA_PUSH(arena, words->list, words->count, words->capacity) = program;
}

/* -optf FILE,...: its words take the option's place. */
static bool read_files(struct reader *reader, const char *list)
{
    struct options *options = reader->options;

    while (*list) {
        size_t length = strcspn(list, ",");
        const char *path = arena_string(&options->arena, (struct text){list, length});
        struct response_file words = {.total = &options->response};
        bool ok;

        begin_words(&options->arena, &words);
        ok = response_file_add_file(&words, &options->arena, path);
        options->response.depth++;
        ok = ok && read_response_words(reader, &words);
        options->response.depth--;
        if (!ok)
            return false;
        list += length + (list[length] == ',');
    }
    return true;
}

/* The row of getopt's code; NULL when that stands for no option. */
static const struct option_row *option_row_of(int code)
{
    return code >= FIRST_ROW ? &option_table[code - FIRST_ROW] : NULL;
}

/* Takes getopt's code for `word`, unless it is -optf. */
static bool take_option_code(struct reader *reader, int code, const char *word)
{
    if (code == '?') /* the name is known: there is a value, and it takes none */
        return suggestions_unwanted(word);
    if (code == ':')
        return suggestions_missing(word, option_row_of(optopt));
    if (code == 1) {
        apply_option_operand(reader->options, optarg, false);
        return true;
    }
    return options_add(reader->options, option_row_of(code), optarg);
}

/* "-" in front: operands come in their place; ":": getopt prints nothing. It has only one position,
 * so it is restarted for the words of a file, and then for the words after the option. */
static bool read_response_words(struct reader *reader, const struct response_file *words)
{
    char **list = words->list;
    int count = (int)words->count, code;
    const struct option_row *row;

    for (optind = 0;;) {
        char **word = &list[optind ? optind : 1];

        if (word < list + count && !prepare_word(reader, word))
            return false;
        code = getopt_long_only(count, list, "-:", reader->list, NULL);
        if (code == -1)
            break;
        row = option_row_of(code);
        if (row && row->effect.kind == OPTION_FILES) {
            list += optind - 1;
            count -= optind - 1;
            if (!read_files(reader, optarg))
                return false;
            optind = 0;
        } else if (!take_option_code(reader, code, *word)) {
            return false;
        }
    }
    while (optind < count)
        apply_option_operand(reader->options, list[optind++], false);
    return true;
}

bool arguments_read(struct options *options, const struct arguments *arguments)
{
    size_t count = arguments->argc > 1 ? (size_t)arguments->argc - 1 : 0;
    char *const *list = arguments->argv + 1;
    char *const *others = nvptx_ld_words(&options->arena, arguments->argc, arguments->argv, &count);
    struct reader reader = {options, make_list(&options->arena)};
    struct response_file words = {.total = &options->response};
    bool ok = true;

    list = others ? others : list;
    reporting_begin((const char *const *)list, count, options->color);
    opterr = 0;
    begin_words(&options->arena, &words);
    for (size_t i = 0; i < count && ok; i++)
        ok = response_file_add(&words, &options->arena, list[i]);
    return ok && read_response_words(&reader, &words);
}
