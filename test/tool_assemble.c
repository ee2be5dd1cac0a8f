/* tool_assemble.c: assembles a PTX file with the built-in assembler, as `ptxas -arch ARCH` does.
 *
 *     tool_assemble ARCH OUTPUT FILE [OPTION...]
 *     tool_assemble --targets
 *
 * Prints what the assembler says; exit status 1 when it refuses. --targets prints what the
 * assembler knows of versions and targets: "ptx 8.0" for each PTX version, "sm_90" for each
 * architecture that code is made for, "sm_90 7.8" for each target with its first PTX version. For
 * test/diff/driver.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arch.h"
#include "toy/builtin.h"
#include "toy/language/target.h"

/* Room for a NUL behind the text, which jobs have. */
static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && !fseek(file, 0, SEEK_END)) {
        long end = ftell(file);
        rewind(file);
        text = end > 0 ? calloc(1, (size_t)end + 1) : NULL;
        *size = text ? fread(text, 1, (size_t)end, file) : 0;
    }
    if (file)
        fclose(file);
    if (!text) {
        fprintf(stderr, "tool_assemble: cannot read '%s'\n", path);
        exit(2);
    }
    return text;
}

static void write_all(const char *path, const struct minilink_result *result)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(result->cubin, 1, result->cubin_size, file) != result->cubin_size ||
        fclose(file)) {
        fprintf(stderr, "tool_assemble: cannot write '%s'\n", path);
        exit(2);
    }
}

static int print_targets(void)
{
    static const char suffixes[] = {0, 'a', 'f'};
    for (unsigned version = 0; version < 200; version++)
        if (target_ptx_is_known(version / 10, version % 10))
            printf("ptx %u.%u\n", version / 10, version % 10);
    for (unsigned i = 0; i < 3 * 200; i++) {
        struct arch arch = {.sm = (uint16_t)(i / 3), .suffix = suffixes[i % 3]};
        char name[ARCH_NAME_SIZE];
        unsigned first = target_first_ptx(arch);
        if (target_is_compiled_for(arch))
            printf("%s\n", arch_name(arch, name));
        if (first)
            printf("%s %u.%u\n", arch_name(arch, name), first / 10, first % 10);
    }
    return 0;
}

static int assemble(char **argv)
{
    size_t size;
    char *text = read_all(argv[3], &size);
    struct minilink_job job = {.size = sizeof job,
                               .name = argv[3],
                               .ptx = text,
                               .ptx_size = size,
                               .arch = argv[1],
                               .sm = (uint32_t)atoi(argv[1] + 3),
                               .mode = MINILINK_MODE_WHOLE,
                               .options = (const char *const *)&argv[4]};
    struct minilink_result result = {.size = sizeof result};
    int code = builtin_assembler.assemble(builtin_assembler.state, &job, &result);
    if (result.log)
        fputs(result.log, stdout);
    if (code == MINILINK_WARNED && result.cubin)
        code = MINILINK_OK;
    if (code == MINILINK_OK)
        write_all(argv[2], &result);
    free(result.cubin);
    free(result.log);
    free(text);
    return code == MINILINK_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--targets"))
        return print_targets();
    if (argc >= 4 && strlen(argv[1]) > 3)
        return assemble(argv);
    fprintf(stderr, "usage: tool_assemble ARCH OUTPUT FILE [OPTION...]\n");
    return 2;
}
