/* marks.c: what stands in a text though the code does not depend on it.
 *
 * NVIDIA's compilers number the functions of a module, and with them labels and stack frames
 * ($L__BB12_3, __local_depot12), count calls in comments and labels of prototypes (prototype_7),
 * and name parameters after their function. So a kernel more changes the text of every kernel
 * behind it. A split whose chunks are to be stable writes such places anew. */
#include "base/memory.h"
#include "ptx/link.h"

static const struct text counted[] = {
    TEXT("$L__BB"), TEXT("$L__tmp"), TEXT("$L_brx_"), TEXT("__local_depot"), TEXT("prototype_"),
};

/* The front of a label up to the end of its first number, and the number. False for other words. */
static bool find_counter(struct text word, struct text *front, struct text *number)
{
    if (word.data[0] != '$' && word.data[0] != '_' && word.data[0] != 'p')
        return false;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        size_t end = counted[i].size;

        if (!text_starts(word, counted[i]))
            continue;
        while (end < word.size && text_is_digit(word.data[end]))
            end++;
        *front = (struct text){word.data, end};
        *number = (struct text){word.data + counted[i].size, end - counted[i].size};
        return number->size > 0 && (end == word.size || word.data[end] == '_');
    }
    return false;
}

bool marks_is_counted(struct text word)
{
    struct text front, number;

    return word.size && find_counter(word, &front, &number);
}

void marks_reset(struct scan *scan)
{
    scan->mark_count = 0;
    scan->last_counter = (struct text){0};
    if (scan->counters.count)
        table_free(&scan->counters);
}

void marks_add(struct scan *scan, struct text place, enum program_mark_kind kind, uint32_t value)
{
    ARRAY_PUSH(scan->marks, scan->mark_count, scan->mark_capacity) =
        (struct program_mark){place.data, place.size, value, (uint8_t)kind};
}

/* Most functions have one number in all their labels. */
static uint32_t value_of(struct scan *scan, struct text front)
{
    if (text_equal(front, scan->last_counter))
        return scan->last_value;
    scan->last_counter = front;
    scan->last_value = table_add(&scan->counters, front, (uint32_t)scan->counters.count);
    return scan->last_value;
}

/* True for "<function>_param_3". */
static bool is_parameter(const struct scan *scan, struct text word)
{
    struct text name = scan->owner->own_name;

    return word.size > name.size && word.data[name.size] == '_' && text_starts(word, name) &&
           text_starts(text_drop(word, name.size), TEXT("_param_"));
}

void marks_word(struct scan *scan, struct text word, uint32_t symbol)
{
    struct text front, number;

    if (symbol != NO_SYMBOL)
        marks_add(scan, word, MARK_NAME, symbol);
    else if (is_parameter(scan, word))
        marks_add(scan, (struct text){word.data, scan->owner->own_name.size}, MARK_NAME,
                  (uint32_t)(scan->owner - scan->program->symbols));
    else if (!scan->keeps_counters && find_counter(word, &front, &number))
        marks_add(scan, number, MARK_COUNTER, value_of(scan, front));
}
