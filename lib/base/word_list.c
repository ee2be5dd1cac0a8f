/* word_list.c: growing lists of words, and names formatted like members of archives. */
#include "base/memory.h"

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

void name_list_add(struct name_list *list, const char *name)
{
    if (list->last && strcmp(list->last, name) == 0)
        return;
    list->last = name;
    if (list->count < NAME_LIST_MOST)
        list->names[list->count] = name;
    list->count++;
}

const char *name_list_text(const char *head, const struct name_list *list, struct arena *arena)
{
    const char *const *names = list->names;

    switch (list->count) {
    case 0:
        return arena_printf(arena, "%s", head);
    case 1:
        return arena_printf(arena, "%s(%s)", head, names[0]);
    case 2:
        return arena_printf(arena, "%s(%s+%s)", head, names[0], names[1]);
    default:
        return arena_printf(arena, "%s(%s+%s+%s%s)", head, names[0], names[1], names[2],
                            list->count > NAME_LIST_MOST ? "+..." : "");
    }
}
