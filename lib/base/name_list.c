/* name_list.c: formats names like members of archives. */
#include "base/name_list.h"

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
