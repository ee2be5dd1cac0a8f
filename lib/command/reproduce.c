/* reproduce.c: options by what the help calls their arguments. */
#include "command/reproduce.h"

#include <string.h>

#include "command/option_table.h"

static void add(struct options *options, const char *text, const char *path)
{
    ARENA_PUSH(&options->arena, options->reproduce_words, options->link.reproduce_word_count,
               options->reproduce_capacity) = (struct reproduce_word){text, path};
}

/* True when the value is a path, or words with one, of this machine, or says how to tell of the
 * link and not what to link. */
static bool is_of_this_machine(const struct option_row *row)
{
    static const char *const kinds[] = {"FILE", "DIR", "PROGRAM", "COMMAND"};
    const char *argument = row->argument ? row->argument : "";

    argument += *argument == '[';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(argument, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return row->effect.kind == OPTION_LIBRARIES || row->group == GROUP_CACHE ||
           row->group == GROUP_BUILDING;
}

static void add_option(struct options *options, const struct option_row *row, const char *value)
{
    static const char plugin[] = "plugin:";

    if (strcmp(row->name, "output-file") == 0)
        add(options,
            arena_printf(&options->arena, "--output-file=%s",
                         strcmp(value, "-") == 0 ? "out.cubin" : basename(value)),
            NULL);
    else if (strcmp(row->name, "uidx-file") == 0)
        add(options, "--uidx-file=", value);
    else if (strcmp(row->name, "assembler") == 0 && strncmp(value, plugin, strlen(plugin)) == 0)
        add(options, "--assembler=plugin:", value + strlen(plugin));
    else if (!is_of_this_machine(row))
        add(options,
            arena_printf(&options->arena, "--%s%s%s", row->name, value ? "=" : "",
                         value ? value : ""),
            NULL);
}

void reproduce_words(struct options *options)
{
    const char *assembler = options->link.assembler.name, *value;
    const struct option_row *of_assembler = option_table_find("--assembler", &value);

    /* The environment's, too. */
    if (assembler)
        add_option(options, of_assembler, assembler);
    for (size_t i = 0; i < options->given_count; i++)
        if (options->given[i].row != of_assembler)
            add_option(options, options->given[i].row, options->given[i].value);
    options->link.reproduce_words = options->reproduce_words;
}
