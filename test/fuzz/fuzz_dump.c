/* fuzz_dump.c: any bytes as a file that minidump shows. The first two bytes choose the parts, the
 * third the target; the rest is the file. What was refused must have been told. */
#include <stdio.h>

#include "../../cmd/minidump/dump.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t targets[] = {0, 75, 90, 100};
    static FILE *nowhere;
    struct bytes rest = {data, size};
    struct dump dump = {.parts = (fuzz_byte(&rest) | (unsigned)fuzz_byte(&rest) << 8) & DUMP_ALL};
    struct input_file file = {.path = "x"};
    struct inputs inputs = {.files = &file, .count = 1};
    struct diag_sink sink;
    uint8_t *copy;
    bool ok;

    if (!nowhere && !(nowhere = fopen("/dev/null", "we")))
        abort();
    dump.out = nowhere;
    dump.arch.sm = targets[fuzz_byte(&rest) % 4];
    copy = fuzz_copy(rest);
    file.data = (struct bytes){copy, rest.size};
    file.kind = file_classify(file.data);
    fuzz_catch(&sink);
    ok = dump_file(&dump, &inputs);
    if (fuzz_caught(&sink) == 0 && !ok)
        abort();
    free(copy);
    return 0;
}
