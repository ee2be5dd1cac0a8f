/* hint.c: what is near to what was typed, by the number of letters that differ. */
#include "command/hint.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/context.h"

/* Longer words are none of ours. */
#define LONGEST 48u

/* Names that are as near as each other and are told. */
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

static void put_value(struct buffer *out, const struct option_row *row)
{
    if (row->effect.kind == OPTION_NUMBER)
        buffer_printf(out, "a number from 0 to %d", row->effect.most);
    else if (strcmp(row->name, "arch") == 0)
        buffer_string(out, "a target such as sm_90; --list-targets prints all");
    else
        put_alternatives(out, row->argument);
}

void hint_value(const struct option_row *row)
{
    struct buffer value = {0};
    struct context_cleanup cleanup;

    /* What else a value may be, its own message says. */
    if (!row->argument || (row->effect.kind == OPTION_SPECIAL && !strchr(row->argument, '|') &&
                           strcmp(row->name, "arch") != 0))
        return;
    context_defer(&cleanup, buffer_cleanup, &value);
    put_value(&value, row);
    diag_note("%s%s takes %.*s", option_dashes(row->group), row->name,
              TEXT_ARG(buffer_view(&value)));
    context_clean(&cleanup);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, left out, changed, or swapped with the next one. */
static size_t distance(const char *from, const char *to)
{
    size_t rows[3][LONGEST + 1], from_size = strlen(from), to_size = strlen(to);

    if (from_size > LONGEST || to_size > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= to_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from_size; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= to_size; j++) {
            row[j] =
                least(least(row[j - 1], last[j]) + 1, last[j - 1] + (from[i - 1] != to[j - 1]));
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[from_size % 3][to_size];
}

/* 0 for a name that goes on where the word ends; SIZE_MAX for one that is too far away. */
static size_t farness(const char *word, const char *name)
{
    size_t size = strlen(word), far;

    if (size >= 3 && strncmp(word, name, size) == 0)
        return 0;
    far = distance(word, name);
    return far <= (size + 1) / 3 ? far : SIZE_MAX;
}

static size_t farness_of_row(const char *word, const struct option_row *row)
{
    size_t far = farness(word, row->name);

    return row->short_name ? least(far, farness(word, row->short_name)) : far;
}

void hint_name(const char *name)
{
    const char *word = name + (*name == '-');
    struct buffer names = {0};
    struct context_cleanup cleanup;
    size_t nearest = SIZE_MAX, count = 0;

    for (size_t i = 0; i < option_table_size; i++)
        if (option_table[i].help)
            nearest = least(nearest, farness_of_row(word, &option_table[i]));
    if (nearest == SIZE_MAX)
        return;
    context_defer(&cleanup, buffer_cleanup, &names);
    for (size_t i = 0; i < option_table_size && count < MOST_HINTS; i++) {
        const struct option_row *row = &option_table[i];

        if (!row->help || farness_of_row(word, row) != nearest)
            continue;
        buffer_printf(&names, "%s%s%s", count++ ? ", " : "", option_dashes(row->group), row->name);
    }
    diag_note("did you mean %.*s?", TEXT_ARG(buffer_view(&names)));
    context_clean(&cleanup);
}
