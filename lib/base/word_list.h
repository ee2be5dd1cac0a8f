/* word_list.h: a list of words, such as the options of another program, in an arena. */
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
