/* printing.c: what minilink prints and writes instead of linking.
 *
 * The help is printed from the option table under its groups' headings; an option without a
 * text is left out. No line is longer than a terminal's 80 columns. */
#include "program.h"

#include <stdlib.h>

#include "command/option_table.h"
#include "diag/diag.h"
#include "os/exec.h"
#include "output/output.h"

enum { TEXT_COLUMN = 32, LAST_COLUMN = 79 };

static const char *const headings[GROUP_COUNT] = {
    [GROUP_FILES] = "Files and target",
    [GROUP_CODE] = "Code",
    [GROUP_MESSAGES] = "Messages",
    [GROUP_NO_EFFECT] = "Taken as by nvlink, without effect here",
    [GROUP_ASSEMBLER] = "Assembler",
    [GROUP_SYMBOLS] = "Symbols and sections",
    [GROUP_LTO] = "Link-time optimisation",
    [GROUP_SPLITTING] = "Splitting",
    [GROUP_CACHE] = "Cache, and other machines",
    [GROUP_RUNNING] = "Running",
    [GROUP_DIAGNOSTICS] = "Form of messages",
    [GROUP_REPORTS] = "What a link did",
    [GROUP_BUILDING] = "For build systems",
};

/* Prints the text from TEXT_COLUMN on; the current line has `column` characters. */
static void print_text(FILE *out, const char *text, size_t column)
{
    while (*text) {
        size_t length = strcspn(text, " ");

        if (column < TEXT_COLUMN) {
            fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
            column = TEXT_COLUMN;
        } else if (column + 1 + length > LAST_COLUMN) {
            fprintf(out, "\n%*s", TEXT_COLUMN, "");
            column = TEXT_COLUMN;
        } else {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* "[first|...]" is an argument that may be missing. */
static void print_option(FILE *out, const struct option_row *row)
{
    const char *argument = row->argument ? row->argument : "";
    bool is_optional = *argument == '[';
    char left[128];
    int length =
        snprintf(left, sizeof left, "  %s%s%s%s%s%s%s", option_dashes(row->group), row->name,
                 is_optional ? "[" : "", *argument ? "=" : "", argument + is_optional,
                 row->short_name ? ", -" : "", row->short_name ? row->short_name : "");

    fputs(left, out);
    if (length + 1 >= TEXT_COLUMN) {
        fputc('\n', out);
        length = 0;
    }
    print_text(out, row->help, (size_t)length);
}

static void print_option_group(FILE *out, enum option_group group)
{
    bool has_heading = false;

    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];

        if (row->group != group || !row->help)
            continue;
        if (!has_heading)
            fprintf(out, "\n%s:\n", headings[group]);
        has_heading = true;
        print_option(out, row);
    }
}

void help_write(FILE *out)
{
    fputs("Usage: minilink [options] <inputs> -o <cubin>\n"
          "\n"
          "Links CUDA device code: host objects, archives, fatbins, cubins and PTX to one\n"
          "cubin. Options with one dash are nvlink's, those with two minilink's own; both\n"
          "are taken with one or two, as -name=value or -name value. Behind -- all words\n"
          "are inputs. See minilink(1).\n",
          out);
    for (int group = 0; group < GROUP_COUNT; group++)
        print_option_group(out, (enum option_group)group);
    fputs("\nExit status: 0 success, 1 link error, 2 wrong command line, 3 environment (no\n"
          "memory, no space, no assembler).\n",
          out);
}

/* A script for the host's linker that keeps the sections with device code, as nvlink
 * writes it for -gen-host-linker-script (measured): for lcs-aug the three sections alone, to add to
 * another script; for lcs-abs the same after the host's script, which `ld -pie --verbose` prints
 * between two lines of "=". */

#define LONGEST_SCRIPT (1u << 20)

static const char sections[] = "SECTIONS\n"
                               "{\n"
                               "\t.nvFatBinSegment : { *(.nvFatBinSegment) }\n"
                               "\t__nv_relfatbin : { *(__nv_relfatbin) } \n"
                               "\t.nv_fatbin : { *(.nv_fatbin) }\n"
                               "}\n";

/* The text between the lines; false when there are not two. */
static bool find_script(const char *output, struct text *script)
{
    const char *start = strstr(output, "\n====");
    const char *end;

    start = start ? strchr(start + 1, '\n') : NULL;
    end = start ? strstr(start, "\n====") : NULL;
    if (!end)
        return false;
    *script = (struct text){start + 1, (size_t)(end - start)};
    return true;
}

static bool add_host_script(struct buffer *out)
{
    const char *const argv[] = {"/usr/bin/env", "ld", "--verbose", "-pie", NULL};
    const struct exec_request request = {.argv = argv, .output_limit = LONGEST_SCRIPT};
    struct exec_result result = {0};
    struct text script;

    exec_run(&request, &result);
    CONTEXT_DEFER(memory_cleanup, &result.output);
    if (result.end != EXEC_EXITED || result.code != 0 || result.output_cut || !result.output ||
        !find_script(result.output, &script))
        return diag_fatal("'ld --verbose -pie' does not tell the host's linker script, which "
                          "lcs-abs needs; lcs-aug does not");
    buffer_text(out, script);
    return true;
}

bool host_script_write(enum host_script kind, const char *path)
{
    LOCAL_BUFFER(script);

    if (kind == HOST_SCRIPT_ABSOLUTE && !add_host_script(&script))
        return false;
    buffer_string(&script, sections);
    if (path)
        return output_write_file(path, buffer_bytes(&script));
    fwrite(script.data, 1, script.size, stdout);
    return true;
}
