/* apply_option.c: stores a value in the field that its option's row names. */
#include "command/options.h"

#include <errno.h>
#include <inttypes.h>

#include "command/option_table.h"

static void *field_at(struct options *options, size_t offset)
{
    return (char *)options + offset;
}

/* The sizes are those of bool, of an enum or int32_t, and of size_t; the option table has no
 * others. */
static void store_option_number(struct options *options, const struct option_effect *effect,
                                size_t number)
{
    void *field = field_at(options, effect->field);

    if (effect->size == sizeof(bool))
        *(bool *)field = number != 0;
    else if (effect->size == sizeof(uint32_t))
        memcpy(field, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else if (effect->size == sizeof(size_t))
        memcpy(field, &number, sizeof number);
}

/* nvlink reads decimal, octal and hexadecimal numbers, and an empty text as 0. */
static bool read_option_number(const char *text, int32_t *number)
{
    char *end;
    intmax_t value;

    errno = 0;
    value = strtoimax(text, &end, 0);
    if (*end)
        return diag_fatal("'%s': expected a number", text);
    if (errno || value > INT32_MAX || value < INT32_MIN)
        return diag_fatal("32-bit integer value (%s) out of range", text);
    *number = (int32_t)value;
    return true;
}

static bool take_number(struct options *options, const struct option_row *row, const char *value)
{
    int32_t number = 0;

    if (!read_option_number(value, &number))
        return false;
    if (number < 0 || number > row->effect.most)
        return diag_fatal("Invalid argument for option '%s%s'", option_dashes(row->group),
                          row->name);
    store_option_number(options, &row->effect, (size_t)number * row->effect.number);
    return true;
}

static bool take_option_choice(struct options *options, const struct option_row *row,
                               const char *value)
{
    const struct option_choice *choice = option_table_choice(row, value);

    if (!choice)
        return option_table_undefined(row, value);
    store_option_number(options, &row->effect, (size_t)choice->number);
    return true;
}

void apply_option_operand(struct options *options, const char *name, bool is_library)
{
    ARENA_PUSH(&options->arena, options->link.operands, options->link.operand_count,
               options->operand_capacity) =
        (struct input_operand){.name = name, .is_library = is_library};
}

struct option_state *apply_option_state(struct options *options, const struct option_row *row)
{
    if (!options->states)
        options->states = arena_zalloc(&options->arena, option_table_size, sizeof *options->states);
    return &options->states[row - option_table];
}

void apply_option_words(struct options *options, const struct option_row *row, const char *value,
                        const char *separators, bool keeps_empty)
{
    struct word_list *words = &apply_option_state(options, row)->words;
    bool more = true;

    words->arena = &options->arena;
    for (; more; value++) {
        size_t length = strcspn(value, separators);
        const char *word = arena_string(&options->arena, (struct text){value, length});

        if (row->effect.kind == OPTION_LIBRARIES)
            apply_option_operand(options, word, true);
        else if (length || keeps_empty)
            word_list_add(words, word);
        value += length;
        more = *value != '\0';
    }
    if (row->effect.kind == OPTION_WORDS)
        *(const char *const **)field_at(options, row->effect.field) = word_list_end(words);
}

void apply_option_library_paths(struct options *options, const char *value, const char *separators)
{
    const char *none;

    apply_option_words(options, option_table_find("-L", &none), value, separators, !*separators);
}

/* The highest level that was asked for counts. */
static bool take_level(uint8_t *field, const struct option_row *row, const char *value)
{
    size_t level = row->effect.number;

    if (value && (value[0] < '0' || value[0] > '0' + row->effect.most || value[1] != '\0'))
        return option_table_undefined(row, value);
    if (value)
        level = (size_t)(value[0] - '0');
    if (level > *field)
        *field = (uint8_t)level;
    return true;
}

static bool take_value(struct options *options, const struct option_row *row, const char *value)
{
    const struct option_effect *effect = &row->effect;
    void *field = field_at(options, effect->field);

    if (effect->given)
        *(bool *)field_at(options, effect->given) = true;
    switch (effect->kind) {
    case OPTION_SETS:
        store_option_number(options, effect, effect->number);
        return true;
    case OPTION_STRING:
        *(const char **)field = value;
        return true;
    case OPTION_NUMBER:
        return take_number(options, row, value);
    case OPTION_LEVEL:
        return take_level(field, row, value);
    case OPTION_CHOICE:
        return take_option_choice(options, row, value);
    case OPTION_WORDS:
    case OPTION_LIBRARIES:
        apply_option_words(options, row, value, effect->separators, effect->number != 0);
        return true;
    case OPTION_IGNORED:
    case OPTION_FILES:
        return true;
    case OPTION_SPECIAL:
        return effect->take(options, row, value);
    }
    return false;
}

bool apply_option(struct options *options, const struct option_row *row, const char *value)
{
    if (take_value(options, row, value))
        return true;
    suggestions_value(row);
    return false;
}
