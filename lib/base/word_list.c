/* word_list.c: a growing list of words. */
#include "base/word_list.h"

void word_list_add(struct word_list *words, const char *word)
{
    ARENA_PUSH(words->arena, words->list, words->count, words->capacity) = word;
}

void word_list_add_all(struct word_list *words, const char *const *more)
{
    for (; more && *more; more++)
        word_list_add(words, *more);
}

void word_list_printf(struct word_list *words, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    word_list_add(words, arena_vprintf(words->arena, format, arguments));
    va_end(arguments);
}

const char **word_list_end(struct word_list *words)
{
    word_list_add(words, NULL);
    words->count--;
    return words->list;
}
