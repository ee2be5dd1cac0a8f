/* tool_split.c: splits PTX files into chunk files, for tests against the real tools.
 *
 *     tool_split [-u] [-s] N OUTPREFIX IN.ptx...     writes OUTPREFIX.0.ptx, OUTPREFIX.1.ptx ...
 *
 * -u allows undefined symbols, -s makes stable chunks. Prints the number of chunks. */
#include "split/split.h"
#include "read_file.h"

static void write_chunk(const char *prefix, const struct chunk *chunk)
{
    char path[4096];

    snprintf(path, sizeof path, "%s.%u.ptx", prefix, chunk->index);
    write_file(path, chunk->text);
}

static void print_promoted(const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        printf("%u: weight %llu, %u functions, %u replicas, first %s\n", chunks->list[i].index,
               (unsigned long long)chunks->list[i].weight, chunks->list[i].function_count,
               chunks->list[i].replica_count, chunks->list[i].first_function);
    if (chunks->single_reason)
        printf("not split: %s\n", chunks->single_reason);
}

int main(int argc, char **argv)
{
    struct program_request link = {.arch = {90, 0}};
    struct split_request split = {.minimum_bytes = 1, .arch = {90, 0}};
    struct program_source *sources;
    struct program program = {0};
    struct chunks chunks = {0};
    int first = 1;
    size_t count;

    if (argc > first && strcmp(argv[first], "-u") == 0) {
        link.allow_undefined = true;
        first++;
    }
    if (argc > first && strcmp(argv[first], "-s") == 0) {
        link.wants_marks = true;
        split.policy = SPLIT_STABLE;
        first++;
    }
    if (argc < first + 3)
        return 2;
    split.wanted = (uint32_t)strtoul(argv[first], NULL, 10);
    count = (size_t)(argc - first - 2);
    sources = calloc(count, sizeof *sources);
    if (!sources)
        return 2;
    for (size_t i = 0; i < count; i++)
        sources[i] = (struct program_source){argv[(size_t)first + 2 + i],
                                             read_file(argv[(size_t)first + 2 + i])};
    if (!program_link(&program, sources, count, &link))
        return 1;
    split_program(&chunks, &program, &split);
    for (size_t i = 0; i < chunks.count; i++)
        write_chunk(argv[first + 1], &chunks.list[i]);
    printf("%zu chunks\n", chunks.count);
    print_promoted(&chunks);
    chunks_free(&chunks);
    program_free(&program);
    for (size_t i = 0; i < count; i++)
        free((char *)sources[i].text.data);
    free(sources);
    return 0;
}
