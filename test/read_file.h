/* read_file.h: a whole file, for tools that end when there is none. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"

/* The contents of the file, malloc'ed. */
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
    data = buffer_take(&buffer, &size);
    return (struct text){data, size};
}
