/* standalone.c: a fuzzer without libFuzzer: runs it on each file, and on those in each folder, that
 * the command line names. For `make coverage`, and to look at a finding in a debugger. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static int run_file(const char *path, const struct stat *status, int kind)
{
    FILE *file = kind == FTW_F ? fopen(path, "re") : NULL;
    struct buffer text = {0};
    size_t got;

    (void)status;
    if (kind != FTW_F)
        return 0;
    if (!file) {
        fprintf(stderr, "cannot read '%s'\n", path);
        exit(2);
    }
    do {
        buffer_reserve(&text, 65536);
        got = fread(text.data + text.size, 1, 65536, file);
        text.size += got;
    } while (got > 0);
    fclose(file);
    LLVMFuzzerTestOneInput((const uint8_t *)text.data, text.size);
    buffer_free(&text);
    count++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (ftw(argv[i], run_file, 16) != 0) {
            fprintf(stderr, "cannot walk through '%s'\n", argv[i]);
            return 2;
        }
    printf("%u inputs\n", count);
    return 0;
}
