/* links.h: one link by the library's calls, as the command has it: options and inputs as words. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "minilink/minilink.h"

#define LINKS_WORDS 64

/* How inputs are handed over. */
enum links_way {
    LINKS_FILES,
    LINKS_DATA,
    LINKS_WAYS,
};

struct links_text {
    char *data;
    size_t size;
};

/* Options, and inputs with their contents; texts are borrowed. */
struct links_case {
    const char *options[LINKS_WORDS], *inputs[LINKS_WORDS];
    struct links_text contents[LINKS_WORDS];
    size_t option_count, input_count;
};

/* A whole file and a NUL; data is NULL when it cannot be read. */
static inline struct links_text links_read(const char *path)
{
    struct links_text text = {0};
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, got;

    if (!file)
        return text;
    text.data = malloc(room + 1);
    while (text.data && (got = fread(text.data + text.size, 1, room - text.size, file)) > 0) {
        text.size += got;
        if (text.size == room)
            text.data = realloc(text.data, (room *= 2) + 1);
    }
    if (text.data)
        text.data[text.size] = 0;
    fclose(file);
    return text;
}

static inline bool links_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(data, 1, size, file) == size;

    return file && fclose(file) == 0 && ok;
}

/* An input is a word that does not begin with "-". */
static inline void links_add_word(struct links_case *one, const char *word)
{
    if (*word == '-' && one->option_count < LINKS_WORDS)
        one->options[one->option_count++] = word;
    else if (*word && *word != '-' && one->input_count < LINKS_WORDS) {
        one->contents[one->input_count] = links_read(word);
        one->inputs[one->input_count++] = word;
    }
}

/* The words of a command line from `first` on. */
static inline void links_add_words(struct links_case *one, char **argv, int first)
{
    for (int i = first; argv[i]; i++)
        links_add_word(one, argv[i]);
}

/* "data" or "files" */
static inline enum links_way links_way_of(const char *word)
{
    return strcmp(word, "data") == 0 ? LINKS_DATA : LINKS_FILES;
}

static inline void links_free_case(struct links_case *one)
{
    for (size_t i = 0; i < one->input_count; i++)
        free(one->contents[i].data);
}

static inline int links_add(struct minilink *link, const struct links_case *one, size_t input,
                            enum links_way way)
{
    if (way == LINKS_FILES || !one->contents[input].data)
        return minilink_add_file(link, MINILINK_INPUT_ANY, one->inputs[input]);
    return minilink_add_data(link, MINILINK_INPUT_ANY, one->contents[input].data,
                             one->contents[input].size, one->inputs[input]);
}

/* Up to, and with, minilink_complete(). *link may be NULL then, and must be destroyed. */
static inline int links_run(struct minilink **link, const struct links_case *one,
                            enum links_way way)
{
    int code = minilink_create(link, one->options, one->option_count);

    for (size_t i = 0; i < one->input_count && code == MINILINK_OK; i++)
        code = links_add(*link, one, i, way);
    return code == MINILINK_OK ? minilink_complete(*link) : code;
}

/* The kernels and functions, a line for each. */
static inline void links_print_kernels(const struct minilink *link, FILE *file)
{
    struct minilink_kernel kernel;

    for (size_t i = 0; i < minilink_kernel_count(link); i++) {
        if (minilink_kernel(link, i, &kernel, sizeof kernel) != MINILINK_OK)
            fprintf(file, "no kernel %zu\n", i);
        else
            fprintf(file,
                    "%s %s %u registers %u barriers %lld stack %u smem %u cmem[0] %u cmem[2] %llu "
                    "code\n",
                    kernel.is_kernel ? "kernel" : "function", kernel.name, kernel.registers,
                    kernel.barriers, (long long)kernel.stack, kernel.shared, kernel.parameters,
                    kernel.constants, (unsigned long long)kernel.code);
    }
}
