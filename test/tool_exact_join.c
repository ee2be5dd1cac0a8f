/* tool_exact_join: the exact join alone, for comparisons with the unsplit assembler.
 *
 *     tool_exact_join OUT.cubin KERNELS CHUNK.cubin...
 *
 * KERNELS names the program's kernels, one in a line, in the order of its text. Kernels whose names
 * begin with __minilink_closing_ are left out: __minilink_closing_0, _1 and so on. Exit status: 0
 * joined, 3 chunks differ, 4 not supported (the reason on the standard output), 2 a file cannot be
 * read, 1 one cannot be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "join/exact_join.h"
#include "read_file.h"

struct run {
    int count;
    char **arguments;
    int status;
};

static size_t read_lines(const char *path, struct text **lines)
{
    struct text rest = read_file(path);
    size_t count = 0, capacity = 0;

    *lines = NULL;
    while (rest.size > 0) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;

        if (size > 0)
            ARRAY_PUSH(*lines, count, capacity) = (struct text){rest.data, size};
        rest.data += size + (end != NULL);
        rest.size -= size + (end != NULL);
    }
    return count;
}

/* The closing kernels that the chunk has. */
static struct exact_join_chunk read_chunk(const char *path)
{
    struct text file = read_file(path);
    struct exact_join_chunk chunk = {.cubin = {(const uint8_t *)file.data, file.size}};
    struct text *names = NULL;
    size_t capacity = 0;
    char name[64];

    for (int i = 0; i < 100; i++) {
        int size = snprintf(name, sizeof name, ".text.__minilink_closing_%d", i) + 1;

        if (!memmem(file.data, file.size, name, (size_t)size))
            break;
        ARRAY_PUSH(names, chunk.left_out_count, capacity) =
            text_of(memory_copy_string(name + 6, (size_t)size - 7));
    }
    chunk.left_out = names;
    return chunk;
}

static void free_chunk(const struct exact_join_chunk *chunk)
{
    for (size_t i = 0; i < chunk->left_out_count; i++)
        free((void *)chunk->left_out[i].data);
    free((void *)chunk->left_out);
    free((void *)chunk->cubin.data);
}

static int write_file(const char *path, const struct buffer *data)
{
    FILE *file = fopen(path, "wb");
    size_t written = file ? fwrite(data->data, 1, data->size, file) : 0;

    if (!file || fclose(file) != 0 || written != data->size) {
        perror(path);
        return 1;
    }
    return 0;
}

static enum link_code join_files(void *argument)
{
    struct run *run = argument;
    struct exact_join_chunk *chunks = memory_zalloc((size_t)run->count, sizeof *chunks);
    struct exact_join_request request = {.chunks = chunks};
    struct exact_join_difference why;
    struct buffer image = {0};
    struct text *kernels;
    enum exact_join_outcome outcome;

    request.kernel_count = read_lines(run->arguments[2], &kernels);
    request.kernels = kernels;
    for (int i = 3; i < run->count; i++)
        chunks[request.count++] = read_chunk(run->arguments[i]);
    outcome = exact_join(&image, &request, &why);
    if (outcome == EXACT_JOIN_OK) {
        run->status = write_file(run->arguments[1], &image);
    } else {
        run->status = outcome == EXACT_JOIN_DIFFERS ? 3 : 4;
        printf("%s: chunk %zu: %.*s %s\n",
               outcome == EXACT_JOIN_DIFFERS ? "differs" : "not supported", why.chunk,
               TEXT_ARG(why.section), why.what);
    }
    for (size_t i = 0; i < request.count; i++)
        free_chunk(&chunks[i]);
    free(chunks);
    if (kernels)
        free((void *)kernels[0].data);
    free(kernels);
    buffer_free(&image);
    return LINK_OK;
}

int main(int argc, char **argv)
{
    struct run run = {.count = argc, .arguments = argv};

    if (argc < 4) {
        fputs("usage: tool_exact_join OUT.cubin KERNELS CHUNK.cubin...\n", stderr);
        return 1;
    }
    if (context_run(join_files, &run) != LINK_OK)
        run.status = 1;
    context_shutdown();
    return run.status;
}
