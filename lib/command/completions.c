/* completions.c: one script for each shell. The kind of an option's argument follows from its name
 * in the help: words between bars, FILE, DIR, or a target.
 *
 * Each shell's grammar is that of its manual: bash(1), "Programmable Completion"; zshcompsys(1),
 * "_arguments"; fish's complete(1). */
#include "command/options.h"

#include "facts/targets.h"
#include "command/option_table.h"

enum argument { ARGUMENT_NONE, ARGUMENT_ANY, ARGUMENT_FILE, ARGUMENT_FOLDER, ARGUMENT_WORDS };

static enum argument argument_of(const struct option_row *row)
{
    if (!row->argument)
        return ARGUMENT_NONE;
    if (strchr(row->argument, '|') || strcmp(row->argument, "sm_NN") == 0)
        return ARGUMENT_WORDS;
    if (strncmp(row->argument, "FILE", 4) == 0 || strcmp(row->argument, "PROGRAM") == 0)
        return ARGUMENT_FILE;
    return strncmp(row->argument, "DIR", 3) == 0 ? ARGUMENT_FOLDER : ARGUMENT_ANY;
}

static bool is_optional(const struct option_row *row)
{
    return row->argument && row->argument[0] == '[';
}

/* Prints the text for single quotes, with a backslash before what is among `marked`: zsh needs
 * colons and brackets escaped inside a specification. */
static void print_quoted(FILE *out, struct text text, const char *marked)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(marked, text.data[i]) ? "\\" : "", text.data[i]);
    }
}

/* Prints the words that the option may have, without parts in capitals, which the user writes. */
static void print_words(FILE *out, const struct option_row *row, const char *marked)
{
    const char *at = row->argument + is_optional(row);
    struct arch arch = {0};
    char name[ARCH_NAME_SIZE];

    if (strcmp(at, "sm_NN") == 0) {
        for (const char *blank = ""; targets_next(&arch, NULL); blank = " ")
            fprintf(out, "%s%s", blank, arch_name(arch, name));
        return;
    }
    for (; *at && *at != ']'; at += strcspn(at, "|]")) {
        if (*at == '|') {
            fputc(' ', out);
            at++;
        }
        print_quoted(out, (struct text){at, strcspn(at, "|]ABCDEFGHIJKLMNOPQRSTUVWXYZ")}, marked);
    }
}

static void bash_arguments(FILE *out, const struct option_row *row)
{
    static const char *const kinds[] = {[ARGUMENT_ANY] = "any",
                                        [ARGUMENT_FILE] = "file",
                                        [ARGUMENT_FOLDER] = "folder",
                                        [ARGUMENT_WORDS] = "words"};
    enum argument argument = argument_of(row);

    if (argument == ARGUMENT_NONE)
        return;
    fprintf(out, "    %s%s%s) %skind=%s", row->name, row->short_name ? " | " : "",
            row->short_name ? row->short_name : "", is_optional(row) ? "[[ $joined ]] && " : "",
            kinds[argument]);
    if (argument == ARGUMENT_WORDS) {
        fputs(" words='", out);
        print_words(out, row, "");
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

static void bash_name(FILE *out, const struct option_row *row)
{
    fprintf(out, "%s%s%s%s", row == option_table ? "" : " ", option_dashes(row->group), row->name,
            row->argument && !is_optional(row) ? "=" : "");
}

/* '-name=[help]:argument:what' */
static void zsh_name(FILE *out, const struct option_row *row, const char *dashes, const char *name)
{
    static const char *const actions[] = {
        [ARGUMENT_ANY] = " ", [ARGUMENT_FILE] = "_files", [ARGUMENT_FOLDER] = "_files -/"};
    enum argument argument = argument_of(row);

    fprintf(out, "    '*%s%s%s[", dashes, name,
            argument == ARGUMENT_NONE ? ""
            : is_optional(row)        ? "=-"
            : name[1]                 ? "="
                                      : "+");
    print_quoted(out, text_of(row->help), "[]:\\");
    fputc(']', out);
    if (argument != ARGUMENT_NONE) {
        fputs(is_optional(row) ? "::" : ":", out);
        print_quoted(out, text_of(row->argument), "[]:\\");
        fputc(':', out);
    }
    if (argument == ARGUMENT_WORDS) {
        fputc('(', out);
        print_words(out, row, ":");
        fputc(')', out);
    } else if (argument != ARGUMENT_NONE) {
        fputs(actions[argument], out);
    }
    fputs("' \\\n", out);
}

static void zsh_option(FILE *out, const struct option_row *row)
{
    zsh_name(out, row, option_dashes(row->group), row->name);
    if (row->short_name)
        zsh_name(out, row, "-", row->short_name);
}

/* In fish, -s is a letter, -o a name after one dash, and -l one after two. */
static void fish_option(FILE *out, const struct option_row *row)
{
    enum argument argument = argument_of(row);

    fprintf(out, "complete -c minilink -%c %s", option_dashes(row->group)[1] ? 'l' : 'o',
            row->name);
    if (row->short_name)
        fprintf(out, " -%c %s", row->short_name[1] ? 'o' : 's', row->short_name);
    if (argument != ARGUMENT_NONE && !is_optional(row))
        fputs(argument == ARGUMENT_FILE ? " -r -F" : " -x", out);
    if (argument == ARGUMENT_FOLDER)
        fputs(" -a '(__fish_complete_directories)'", out);
    if (argument == ARGUMENT_WORDS) {
        fputs(" -a '", out);
        print_words(out, row, "");
        fputc('\'', out);
    }
    fputs(" -d '", out);
    print_quoted(out, text_of(row->help), "\\");
    fputs("'\n", out);
}

/* What stands in the place of a script's markers: something of each option. */
static const struct {
    const char *script;
    struct {
        const char *marker;
        void (*print)(FILE *out, const struct option_row *row);
    } parts[3];
} shells[] = {
    [SHELL_BASH] = {completions_bash, {{"@KINDS@\n", bash_arguments}, {"@OPTIONS@", bash_name}}},
    [SHELL_ZSH] = {completions_zsh, {{"@OPTIONS@\n", zsh_option}}},
    [SHELL_FISH] = {completions_fish, {{"@OPTIONS@\n", fish_option}}},
};

void completions_write(FILE *out, enum shell shell)
{
    const char *rest = shells[shell].script;

    for (size_t i = 0; shells[shell].parts[i].marker; i++) {
        const char *marker = shells[shell].parts[i].marker, *found = strstr(rest, marker);

        fwrite(rest, 1, (size_t)(found - rest), out);
        rest = found + strlen(marker);
        for (size_t k = 0; k < option_table_size; k++)
            if (option_table[k].help)
                shells[shell].parts[i].print(out, &option_table[k]);
    }
    fputs(rest, out);
}
