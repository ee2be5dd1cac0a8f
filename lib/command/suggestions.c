/* suggestions.c: finds options near to what was typed, by the number of letters that differ. */
#include "command/option_table.h"

#include "base/search.h"

/* The most equally near names that are suggested. */
#define MOST_HINTS 3u

static void put_alternatives(struct buffer *out, const char *words)
{
    words += *words == '[';
    for (; *words && *words != ']'; words++) {
        if (*words != '|')
            buffer_char(out, *words);
        else
            buffer_string(out, strchr(words + 1, '|') ? ", " : " or ");
    }
}

static void put_value_name(struct buffer *out, const struct option_row *row)
{
    if (row->effect.kind == OPTION_NUMBER)
        buffer_printf(out, "a number from 0 to %d", row->effect.most);
    else if (strcmp(row->name, "arch") == 0)
        buffer_string(out, "a target such as sm_90; --list-targets prints all");
    else
        put_alternatives(out, row->argument);
}

void suggestions_value(const struct option_row *row)
{
    LOCAL_BUFFER(value);

    /* Other options' own messages say what a value may be. */
    if (!row->argument || (row->effect.kind == OPTION_SPECIAL && !strchr(row->argument, '|') &&
                           strcmp(row->name, "arch") != 0))
        return;
    put_value_name(&value, row);
    diag_note("%s%s takes %.*s", option_dashes(row->group), row->name,
              TEXT_ARG(buffer_view(&value)));
}

/* 0 for a name that begins with the word; SIZE_MAX for one that is too far away. */
static size_t farness(const char *word, const char *name)
{
    size_t size = strlen(word);

    if (size >= 3 && strncmp(word, name, size) == 0)
        return 0;
    return edit_distance(text_of(word), text_of(name), (size + 1) / 3);
}

static size_t farness_of_row(const char *word, const struct option_row *row)
{
    size_t far = farness(word, row->name);
    size_t other = row->short_name ? farness(word, row->short_name) : SIZE_MAX;

    return other < far ? other : far;
}

static void suggest_names(const char *name)
{
    const char *word = name + (*name == '-');
    LOCAL_BUFFER(names);
    size_t nearest = SIZE_MAX, count = 0;

    for (size_t i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];
        size_t far = row->help ? farness_of_row(word, row) : SIZE_MAX;

        if (far < nearest) {
            nearest = far;
            names.size = count = 0;
        }
        if (far == nearest && far != SIZE_MAX && count < MOST_HINTS)
            buffer_printf(&names, "%s%s%s", count++ ? ", " : "", option_dashes(row->group),
                          row->name);
    }
    if (count)
        diag_note("did you mean %.*s?", TEXT_ARG(buffer_view(&names)));
}

/* nvlink's message has neither the first dash nor the value. */
bool suggestions_unknown(const char *word)
{
    LOCAL_ARENA(arena);
    const char *name;

    name = arena_string(&arena, (struct text){word + 1, strcspn(word + 1, "=")});
    diag_fatal("Unknown option '%s'", name);
    suggest_names(name);
    return false;
}

bool suggestions_missing(const char *word, const struct option_row *row)
{
    diag_fatal("argument expected after '%s'", word);
    suggestions_value(row);
    return false;
}

bool suggestions_unwanted(const char *word)
{
    return diag_fatal("no argument expected after '%.*s'", (int)strcspn(word, "="), word);
}
