/* plain.c: nvlink's many spellings of an option to one. */
#include "command/plain.h"

#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"
#include "command/hint.h"
#include "command/option_table.h"

struct plain {
    struct words *words; /* the result */
    struct arena *arena;
    unsigned depth; /* of nested option files */
    struct words_total *total;
};

static size_t row_find(const char *name, size_t length)
{
    size_t i;

    for (i = 0; i < option_table_size; i++) {
        const struct option_row *row = &option_table[i];

        if ((strlen(row->name) == length && memcmp(row->name, name, length) == 0) ||
            (row->short_name && strlen(row->short_name) == length &&
             memcmp(row->short_name, name, length) == 0))
            break;
    }
    return i;
}

/* "-lfoo", "-Ldir", "-ofile", "-m64", "-j4": one letter with its value joined. */
static size_t row_find_joined(const char *word)
{
    if (word[0] != '-' || word[1] == '\0' || word[2] == '\0' || !strchr("lLomj", word[1]))
        return option_table_size;
    if (strchr("mj", word[1]) && word[2 + strspn(word + 2, "0123456789")])
        return option_table_size;
    return row_find(word + 1, 1);
}

static bool make_plain(struct plain *plain, const struct words *words);

/* -optf FILE,...: its words take the option's place. */
static bool read_option_files(struct plain *plain, const char *list)
{
    struct arena *arena = plain->arena;

    while (*list) {
        size_t length = strcspn(list, ",");
        struct words inner = {.depth = plain->depth, .total = plain->total};
        struct context_cleanup cleanup;
        bool ok;

        context_defer(&cleanup, words_cleanup, &inner);
        ok = words_add_file(&inner, arena, arena_string(arena, (struct text){list, length}));
        plain->depth++;
        ok = ok && make_plain(plain, &inner);
        plain->depth--;
        context_clean(&cleanup);
        if (!ok)
            return false;
        list += length + (list[length] == ',');
    }
    return true;
}

static bool add_option(struct plain *plain, const struct option_row *row, const char *value)
{
    struct arena *arena = plain->arena;
    char *word;

    if (row->effect.kind == OPTION_FILES)
        return read_option_files(plain, value);
    word = row->argument ? arena_printf(arena, "--%s=%s", row->name, value)
                         : arena_printf(arena, "--%s", row->name);
    ARRAY_PUSH(plain->words->list, plain->words->count, plain->words->capacity) = word;
    return true;
}

static bool refuse(const struct option_row *row, const char *word)
{
    diag_fatal("argument expected after '%s'", word);
    hint_value(row);
    return false;
}

/* Writes words[*at], and the word behind it when that is its value, in plain form. */
static bool plain_option(struct plain *plain, const struct words *words, size_t *at)
{
    char *word = words->list[*at];
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    size_t row = row_find(name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;

    if (row == option_table_size) {
        row = row_find_joined(word);
        value = row < option_table_size ? word + 2 : NULL;
    }
    if (row == option_table_size) {
        word[1 + strcspn(word + 1, "=")] = '\0';
        diag_fatal("Unknown option '%s'", word + 1);
        hint_name(word + 1);
        return false;
    }
    if (value && !option_table[row].argument)
        return USAGE("no argument expected after '%.*s'", (int)(name + length - word), word);
    if (!value && option_table[row].argument && *option_table[row].argument == '[') {
        const char *first = option_table[row].argument + 1;
        bool is_word = option_table[row].effect.kind != OPTION_STRING;

        value = arena_string(plain->arena, (struct text){first, is_word ? strcspn(first, "|") : 0});
    }
    if (!value && option_table[row].argument) {
        if (*at + 1 == words->count)
            return refuse(&option_table[row], word);
        value = words->list[++*at];
    }
    return add_option(plain, &option_table[row], value);
}

static bool make_plain(struct plain *plain, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        char *word = words->list[i];

        if (word[0] == '-' && word[1] != '\0') {
            if (!plain_option(plain, words, &i))
                return false;
        } else {
            ARRAY_PUSH(plain->words->list, plain->words->count, plain->words->capacity) = word;
        }
    }
    return true;
}

bool plain_make(struct words *plain, struct arena *arena, const struct words *raw)
{
    struct plain state = {.words = plain, .arena = arena, .total = raw->total};

    return make_plain(&state, raw);
}
