/* fuzz_dump.c: any bytes as a file that minidump shows. The first two bytes choose the parts, the
 * third the target; the rest is the file. What was refused must have been told. */
#include <stdio.h>

#include "../../cmd/minidump/dump.h"
#include "fuzz.h"

static void fuzz(struct bytes rest)
{
    static const uint32_t targets[] = {0, 75, 90, 100};
    static FILE *nowhere;
    struct dump dump = {.parts = (fuzz_byte(&rest) | (unsigned)fuzz_byte(&rest) << 8) & DUMP_ALL};
    struct input_file file = {.path = "x"};
    struct inputs inputs = {.files = &file, .count = 1};

    if (!nowhere && !(nowhere = fopen("/dev/null", "we")))
        abort();
    dump.out = nowhere;
    dump.arch.sm = targets[fuzz_byte(&rest) % 4];
    file.data = rest;
    file.kind = file_classify(rest);
    if (!dump_file(&dump, &inputs) && fuzz_errors() == 0)
        abort();
}
