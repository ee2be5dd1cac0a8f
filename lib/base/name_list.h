/* name_list.h: names in messages for data made from several files: "lto.ptx(a.o(2)+b.o(2))". */
#pragma once

#include "base/arena.h"

/* The most names that are listed. */
#define NAME_LIST_MOST 3

/* Start with {0}. */
struct name_list {
    const char *names[NAME_LIST_MOST]; /* borrowed */
    const char *last;
    size_t count;
};

/* Adds a name, unless it is the one that was added last. */
void name_list_add(struct name_list *list, const char *name);

/* "head(name+name)", in `arena`; with more than three names "head(name+name+name+...)". */
const char *name_list_text(const char *head, const struct name_list *list, struct arena *arena);
