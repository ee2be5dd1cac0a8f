/* assemble.c: what the built-in assembler needs for whole texts, in its own thread:
 *
 *     bench_assemble ROUNDS ARCH FILE.ptx...      e.g. bench_assemble 20 sm_90 a.ptx b.ptx
 *
 * A line for each file, and one for all: bytes of PTX, instructions, milliseconds of the best
 * round, MB/s and millions of instructions a second. Time is the thread's CPU time, which other
 * programs on the machine disturb less than wall time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/heap.h"
#include "toy/builtin.h"

struct text_file {
    char *data; /* followed by a NUL */
    size_t size;
    size_t instructions;
    double best; /* seconds */
};

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int read_file(struct text_file *text, const char *name)
{
    FILE *file = fopen(name, "re");
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET))
        return 0;
    text->data = malloc((size_t)size + 1);
    if (!text->data || fread(text->data, 1, (size_t)size, file) != (size_t)size)
        return 0;
    fclose(file);
    text->data[size] = '\0';
    text->size = (size_t)size;
    return 1;
}

/* Statements that are no directives: compilers write one in a line. */
static size_t count_instructions(const char *data)
{
    size_t count = 0;

    for (const char *line = data; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\n{");
        if (*line == '@' || (*line >= 'a' && *line <= 'z'))
            count += line[strcspn(line, ";\n")] == ';';
    }
    return count;
}

static int assemble(struct text_file *text, const char *name, const char *arch)
{
    struct minilink_result result = {.size = sizeof result};
    const struct minilink_job job = {.size = sizeof job,
                                     .name = name,
                                     .ptx = text->data,
                                     .ptx_size = text->size,
                                     .arch = arch,
                                     .sm = (uint32_t)strtoul(arch + 3, NULL, 10),
                                     .threads = 1,
                                     .thread_limit = 1,
                                     .jobserver = MINILINK_JOBSERVER_OFF};
    double start = seconds(), time;
    int code = builtin_assembler.assemble(builtin_assembler.state, &job, &result);

    time = seconds() - start;
    if (text->best == 0 || time < text->best)
        text->best = time;
    if (code != MINILINK_OK)
        fprintf(stderr, "%s: code %d\n%s", name, code, result.log ? result.log : "");
    free(result.cubin);
    free(result.log);
    return code == MINILINK_OK;
}

static void print(const char *name, const struct text_file *text)
{
    printf("%s: %zu bytes, %zu instructions, %.2f ms, %.1f MB/s, %.2f M instructions/s\n", name,
           text->size, text->instructions, text->best * 1e3, (double)text->size / text->best / 1e6,
           (double)text->instructions / text->best / 1e6);
}

int main(int argc, char **argv)
{
    struct text_file all = {0};

    if (argc < 4 || strncmp(argv[2], "sm_", 3) != 0) {
        fprintf(stderr, "usage: bench_assemble ROUNDS ARCH FILE.ptx...\n");
        return 2;
    }
    heap_keep_freed(); /* as minilink does */
    for (int i = 3; i < argc; i++) {
        struct text_file text = {0};

        if (!read_file(&text, argv[i])) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        text.instructions = count_instructions(text.data);
        for (int round = 0; round < atoi(argv[1]); round++)
            if (!assemble(&text, argv[i], argv[2]))
                return 1;
        print(argv[i], &text);
        all.size += text.size;
        all.instructions += text.instructions;
        all.best += text.best;
        free(text.data);
    }
    print("all", &all);
    return 0;
}
