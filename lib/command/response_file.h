/* response_file.h: the command line as a list of words, with response files expanded in their
 * place.
 *
 * @file follows GNU's convention (white space separates, quotes and backslash protect, files may
 * name files); a word @name stays as it is when there is no such file. A quote that is not closed
 * is an error, as in nvlink's -optf. */
#pragma once

#include "base/memory.h"
#include "input/watch.h"
#include "os/file.h"

/* How deep files may name files. */
#define RESPONSE_FILE_DEEPEST 16

/* All response files of one command line. Start with {0}; the caller frees `watch`. */
struct response_file_total {
    const char **files; /* their paths, each as often as it was read; in the arena */
    size_t file_count, file_capacity;
    size_t bytes;
    unsigned depth;     /* how many are being read, each named by the one before */
    struct watch watch; /* which versions of them were read */
    struct file_identity nested[RESPONSE_FILE_DEEPEST]; /* the last one read at each depth */
};

/* Start with {.total = ...}. The list and the words live in the arena. */
struct response_file {
    char **list;
    size_t count;
    size_t capacity;
    struct response_file_total *total;
};

/* Appends a word of a command line, or the words of the file in @file. False when reported. */
bool response_file_add(struct response_file *words, struct arena *arena, char *word);

/* Appends the words of the file `path`. False when reported: no such file, it names itself, nested
 * too deep, too much in all, a quote that is not closed. */
bool response_file_add_file(struct response_file *words, struct arena *arena, const char *path);
