/* help.c: the help, printed from the option table in its order; an option without a text is left
 * out. */
#include <stdio.h>

#include "option_table.h"
#include "options.h"

static void print_group(FILE *out, enum option_group group)
{
    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];
        char left[96];
        int length;

        if (row->group != group || !row->help)
            continue;
        length =
            snprintf(left, sizeof left, "%s-%s%s%s", group == GROUP_MINILINK ? "-" : "", row->name,
                     !row->argument          ? ""
                     : *row->argument == '[' ? "[="
                                             : "=",
                     row->argument ? row->argument + (*row->argument == '[') : "");
        if (row->short_name)
            snprintf(left + length, sizeof left - (size_t)length, ", -%s", row->short_name);
        fprintf(out, "  %-34s %s\n", left, row->help);
    }
}

void options_help(FILE *out)
{
    fputs("Usage: minilink [options] <inputs> -o <cubin>\n"
          "\n"
          "Links CUDA device code: host objects, archives, fatbins, cubins and PTX to one cubin.\n"
          "\n"
          "nvlink's options (one or two dashes; -name=value or -name value):\n",
          out);
    print_group(out, GROUP_NVLINK);
    fputs("\nminilink's own options:\n", out);
    print_group(out, GROUP_MINILINK);
    fputs(
        "\nExit status: 0 success, 1 link error, 2 wrong command line, 3 environment (no memory,\n"
        "no space, no assembler).\n",
        out);
}
