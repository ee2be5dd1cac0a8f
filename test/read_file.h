/* read_file.h: whole files, for tools that end when one cannot be read or written; lines and their
 * words. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The contents of the file, malloc'ed, with a NUL behind. */
static inline struct text read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct buffer buffer = {0};
    char block[65536];
    size_t size;
    char *data;

    if (!file) {
        perror(path);
        exit(2);
    }
    while ((size = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&buffer, block, size);
    fclose(file);
    buffer_char(&buffer, '\0');
    data = buffer_take(&buffer, &size);
    return (struct text){data, size - 1};
}

static inline void write_file(const char *path, struct text text)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(text.data, 1, text.size, file) != text.size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* Takes the next line off; false at the end. */
static inline bool read_file_line(struct text *rest, struct text *line)
{
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;

    if (!end)
        return false;
    *line = (struct text){rest->data, (size_t)(end - rest->data)};
    *rest = (struct text){end + 1, rest->size - line->size - 1};
    return true;
}

/* Takes the next word off. */
static inline struct text read_file_word(struct text *line)
{
    const char *blank = line->size ? memchr(line->data, ' ', line->size) : NULL;
    size_t size = blank ? (size_t)(blank - line->data) : line->size;
    struct text word = {line->data, size};

    *line = (struct text){line->data + size + (blank != NULL), line->size - size - (blank != NULL)};
    return word;
}
