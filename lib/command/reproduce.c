/* reproduce.c: options by what the help calls their arguments. */
#include "command/reproduce.h"

#include <string.h>

#include "base/memory.h"
#include "command/option_table.h"

static const struct option_row *row_of(const char *word, size_t length)
{
    for (size_t i = 0; i < option_table_size; i++)
        if (strlen(option_table[i].name) == length &&
            memcmp(option_table[i].name, word, length) == 0)
            return &option_table[i];
    return NULL;
}

static void add(struct options *options, const char *text, const char *path)
{
    ARRAY_PUSH(options->reproduce_words, options->link.reproduce_word_count,
               options->reproduce_capacity) = (struct reproduce_word){text, path};
}

/* The file's name without its folder. */
static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (strcmp(path, "-") == 0)
        return "out.cubin";
    return slash ? slash + 1 : path;
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

static void add_option(struct options *options, const char *word)
{
    static const char plugin[] = "plugin:";
    size_t length = strcspn(word, "=");
    const struct option_row *row = row_of(word + 2, length - 2);
    const char *value = word[length] ? word + length + 1 : "";

    if (!row)
        return;
    if (strcmp(row->name, "output-file") == 0)
        add(options, arena_printf(&options->arena, "--output-file=%s", name_of(value)), NULL);
    else if (strcmp(row->name, "uidx-file") == 0)
        add(options, "--uidx-file=", value);
    else if (strcmp(row->name, "assembler") == 0 && strncmp(value, plugin, strlen(plugin)) == 0)
        add(options, "--assembler=plugin:", value + strlen(plugin));
    else if (!is_of_this_machine(row))
        add(options, word, NULL);
}

void reproduce_words(struct options *options, const struct words *plain)
{
    const char *assembler = options->link.assembler.name;

    /* The environment's; an option among the words comes behind it. */
    if (assembler)
        add_option(options, arena_printf(&options->arena, "--assembler=%s", assembler));
    for (size_t i = 0; i < plain->count; i++)
        if (strncmp(plain->list[i], "--", 2) == 0 && plain->list[i][2] &&
            strncmp(plain->list[i], "--assembler=", 12) != 0)
            add_option(options, plain->list[i]);
    options->link.reproduce_words = options->reproduce_words;
}
