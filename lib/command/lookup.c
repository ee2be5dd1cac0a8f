/* lookup.c: finds a word's row in the option table, or reports what is wrong with the word. */
#include "command/lookup.h"

#include <string.h>

#include "command/apply_option.h"
#include "command/suggestions.h"

/* nvlink's message has neither the first dash nor the value. */
bool lookup_unknown(const char *word)
{
    struct arena arena = {0};
    const char *name;

    CONTEXT_DEFER(arena_cleanup, &arena);
    name = arena_string(&arena, (struct text){word + 1, strcspn(word + 1, "=")});
    diag_fatal("Unknown option '%s'", name);
    suggestions_name(name);
    return false;
}

bool lookup_missing(const char *word, const struct option_row *row)
{
    diag_fatal("argument expected after '%s'", word);
    suggestions_value(row);
    return false;
}

bool lookup_unwanted(const char *word)
{
    return diag_fatal("no argument expected after '%.*s'", (int)strcspn(word, "="), word);
}

bool lookup_add(struct options *options, const char *word)
{
    const struct option_row *row;
    const char *value;

    word = arena_string(&options->arena, text_of(word));
    if (word[0] != '-' || word[1] == '\0') {
        apply_option_operand(options, word, false);
        return true;
    }
    row = option_table_find(word, &value);
    if (!row)
        return lookup_unknown(word);
    if (row->effect.kind == OPTION_FILES)
        return diag_fatal(
            "Option '-%s' cannot be used here: a program hands its options over itself",
            row->short_name);
    if (!value && option_takes_argument(row))
        return lookup_missing(word, row);
    if (value && !row->argument)
        return lookup_unwanted(word);
    return options_add(options, row, value);
}
