/* arguments.c: getopt finds options, their values and operands; the option table says which options
 * there are.
 *
 * getopt gets only long names, including the letters. Each option's name is looked up before getopt
 * sees it: getopt accepts unambiguous abbreviations, and nvlink does not. A letter joined with its
 * value is rewritten as "-l=NAME", since "-library" would be the name of an option, and "-outer"
 * begin one. */
#include "program.h"

#include <getopt.h>

#include "command/option_table.h"
#include "facts/targets.h"
#include "link/link.h"

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
        options_add_operand(reader->options, optarg, false);
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
        options_add_operand(reader->options, list[optind++], false);
    return true;
}

/* The command line of nvptx-none-ld, of the package nvptx-tools, which GCC's offload
 * compiler runs: -o, -L, -l, -v, -t, --help, --version and files. Its output is the PTX texts that
 * take part, each with a NUL behind it, from which mkoffload makes an image. With --cubin the
 * output is a cubin, and all options are minilink's. */

static bool is_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;

    return strcmp(name, "ld") == 0 || text_ends(text_of(name), TEXT("nvptx-none-ld"));
}

static bool has_argument(int argc, char *const *argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

/* Texts are chosen for no target: the last one takes those of all. */
static char *newest_target(struct arena *arena)
{
    struct arch arch = {0}, newest = {0};
    char name[ARCH_NAME_SIZE];

    while (targets_next(&arch, NULL))
        if (arch.suffix == 0)
            newest = arch;
    return arena_printf(arena, "-arch=%s", arch_name(newest, name));
}

/* Where argv[0] is GCC's name for it ("ld", "nvptx-none-ld"): the words that ask minilink for the
 * same, *count of them, in `arena`, without a program name; else NULL. */
static char *const *nvptx_ld_words(struct arena *arena, int argc, char *const *argv, size_t *count)
{
    static char texts[] = "--emit-texts", verbose[] = "-vv";
    bool is_cubin = has_argument(argc, argv, "--cubin");
    char **words;

    if (argc == 0 || !is_name(argv[0]))
        return NULL;
    words = arena_zalloc(arena, (size_t)argc + 2, sizeof *words);
    *count = 0;
    if (!is_cubin) {
        words[(*count)++] = texts;
        words[(*count)++] = newest_target(arena);
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cubin") == 0)
            continue;
        words[(*count)++] =
            strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "-t") == 0 ? verbose : argv[i];
    }
    return words;
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

bool nvptx_ld_tells(int argc, char *const *argv)
{
    if (argc == 0 || !is_name(argv[0]) || has_argument(argc, argv, "--cubin"))
        return false;
    if (has_argument(argc, argv, "--version")) {
        puts("minilink " MINILINK_VERSION ", as nvptx-none-ld");
        return true;
    }
    if (!has_argument(argc, argv, "--help"))
        return false;
    puts("Usage: nvptx-none-ld [option...] [files]\n"
         "\n"
         "Links PTX that GCC made: writes the files, and those members of archives that\n"
         "define what is undefined, text by text. Options:\n"
         "  -o FILE               Write the texts to FILE, each with a NUL behind it\n"
         "  -l LIBRARY            Link libLIBRARY.a\n"
         "  -L DIR                Look for libraries in DIR\n"
         "  -v, -t                Say what is linked\n"
         "  --cubin               Write one cubin; all options of minilink(1) are taken\n"
         "  --help, --version     Print this, or the version, and exit");
    return true;
}
