/* completions.c: one script for each shell. The kind of an option's argument follows from its name
 * in the help: words between bars, FILE, DIR, or a target.
 *
 * Each shell's grammar is that of its manual: bash(1), "Programmable Completion"; zshcompsys(1),
 * "_arguments"; fish's complete(1). */
#include "command/completions.h"

#include <string.h>

#include "base/arch.h"
#include "command/option_table.h"
#include "facts/targets.h"

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

/* Prints all targets of a link, separated by blanks. */
static void print_target_words(FILE *out)
{
    struct arch arch = {0};
    const char *separator = "";
    char name[ARCH_NAME_SIZE];

    for (; targets_next(&arch, NULL); separator = " ")
        fprintf(out, "%s%s", separator, arch_name(arch, name));
}

/* Prints the words that the option may have, without parts in capitals, which the user writes. zsh
 * needs colons escaped. */
static void print_words(FILE *out, const struct option_row *row, bool marks_colons)
{
    const char *at = row->argument;

    if (strcmp(at, "sm_NN") == 0) {
        print_target_words(out);
        return;
    }
    at += *at == '[';
    while (*at) {
        const char *end = at + strcspn(at, "|]ABCDEFGHIJKLMNOPQRSTUVWXYZ");

        for (; at < end; at++)
            fprintf(out, "%s%c", marks_colons && *at == ':' ? "\\" : "", *at);
        at += strcspn(at, "|]");
        at += *at == '|';
        at += *at == ']';
        if (*at)
            fputc(' ', out);
    }
}

/* Prints the text for single quotes; zsh needs colons and brackets escaped inside a specification.
 */
static void print_quoted(FILE *out, const char *text, const char *marked)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr(marked, *text) ? "\\" : "", *text);
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
        print_words(out, row, false);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

/* Prints the text up to the marker; returns what is behind that. */
static const char *print_until(FILE *out, const char *text, const char *marker)
{
    const char *found = strstr(text, marker);

    fwrite(text, 1, (size_t)(found - text), out);
    return found + strlen(marker);
}

static void write_bash(FILE *out)
{
    const char *rest = print_until(out, completions_bash, "@KINDS@\n");

    for (size_t i = 0; i < option_table_size; i++)
        if (option_table[i].help)
            bash_arguments(out, &option_table[i]);
    rest = print_until(out, rest, "@OPTIONS@");
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];

        if (row->help)
            fprintf(out, "%s%s%s%s", i ? " " : "", option_dashes(row->group), row->name,
                    row->argument && !is_optional(row) ? "=" : "");
    }
    fputs(rest, out);
}

/* '-name=[help]:argument:what' */
static void zsh_option(FILE *out, const struct option_row *row, const char *dashes,
                       const char *name)
{
    enum argument argument = argument_of(row);

    fprintf(out, "    '*%s%s%s[", dashes, name,
            argument == ARGUMENT_NONE ? ""
            : is_optional(row)        ? "=-"
            : name[1]                 ? "="
                                      : "+");
    print_quoted(out, row->help, "[]:\\");
    fputc(']', out);
    if (argument != ARGUMENT_NONE) {
        fputs(is_optional(row) ? "::" : ":", out);
        print_quoted(out, row->argument, "[]:\\");
        fputc(':', out);
    }
    if (argument == ARGUMENT_FILE)
        fputs("_files", out);
    else if (argument == ARGUMENT_FOLDER)
        fputs("_files -/", out);
    else if (argument == ARGUMENT_WORDS) {
        fputc('(', out);
        print_words(out, row, true);
        fputc(')', out);
    } else if (argument == ARGUMENT_ANY)
        fputc(' ', out);
    fputs("' \\\n", out);
}

static void write_zsh(FILE *out)
{
    const char *rest = print_until(out, completions_zsh, "@OPTIONS@\n");

    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];

        if (!row->help)
            continue;
        zsh_option(out, row, option_dashes(row->group), row->name);
        if (row->short_name)
            zsh_option(out, row, "-", row->short_name);
    }
    fputs(rest, out);
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
        print_words(out, row, false);
        fputc('\'', out);
    }
    fputs(" -d '", out);
    print_quoted(out, row->help, "\\");
    fputs("'\n", out);
}

static void write_fish(FILE *out)
{
    const char *rest = print_until(out, completions_fish, "@OPTIONS@\n");

    for (size_t i = 0; i < option_table_size; i++)
        if (option_table[i].help)
            fish_option(out, &option_table[i]);
    fputs(rest, out);
}

void completions_write(FILE *out, enum shell shell)
{
    if (shell == SHELL_BASH)
        write_bash(out);
    else if (shell == SHELL_ZSH)
        write_zsh(out);
    else
        write_fish(out);
}
