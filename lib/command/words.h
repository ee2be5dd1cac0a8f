/* words.h: the command line as a list of words, with response files put in their place.
 *
 * @file follows GNU's convention (white space separates, quotes and backslash protect, files may
 * name files); a word @name stays as it is when there is no such file. A quote that is not closed
 * is an error, as in nvlink's -optf. */
#ifndef MINILINK_COMMAND_WORDS_H
#define MINILINK_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What the response files of one command line have in all. Start with {0}; the caller frees
 * `files`. */
struct words_total {
    const char **files; /* their paths, each as often as it was read; malloc'ed */
    size_t file_count, file_capacity;
    size_t bytes;
};

/* Start with {.total = ...}. `list` is malloc'ed and freed by words_free; the words live in the
 * arena. */
struct words {
    char **list;
    size_t count;
    size_t capacity;
    unsigned depth; /* of nested response files */
    struct words_total *total;
};

/* Appends the words of a command line (argv[1] on), expanding @file. False when reported. */
bool words_add(struct words *words, struct arena *arena, char *const *list, size_t count);

/* Appends the words of the file `path`. False when reported: no such file, nested too deep,
 * too much in all, a quote that is not closed. */
bool words_add_file(struct words *words, struct arena *arena, const char *path);

void words_free(struct words *words);

/* words_free for context_defer. */
void words_cleanup(void *words);

#endif
