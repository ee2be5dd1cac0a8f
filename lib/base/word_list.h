/* word_list.h: a list of words, such as the options of another program, in an arena; and the names
 * in messages for data made from several files: "lto.ptx(a.o(2)+b.o(2))". */
#pragma once

#include "base/arena.h"

/* Start with {.arena = ...}. */
struct word_list {
    struct arena *arena;
    const char **list;
    size_t count, capacity;
};

/* Adds a word, which must live as long as the list. */
void word_list_add(struct word_list *words, const char *word);

/* Adds each word of a list that ends with NULL, or is NULL. */
void word_list_add_all(struct word_list *words, const char *const *more);

/* printf of a word, into the arena. */
void word_list_printf(struct word_list *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The words, which end with NULL. */
const char **word_list_end(struct word_list *words);

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
