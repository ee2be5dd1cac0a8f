/* fuzz_merge.c: any bytes as two cubins, merged. The first byte chooses -r, -g, -preserve-relocs
 * and -dump-callgraph, the next four say how long the first cubin is; a second one that cannot be
 * read is left out. Seeds: pairs of fixtures/merge, made by test/fuzz/seed-merge. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "merge/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void merge(const struct cubin *const *cubins, size_t count, uint8_t flags)
{
    struct merge_request request = {
        .arch = {.sm = CUBIN_FLAGS_SM(cubins[0]->flags)},
        .relocatable = flags & 1,
        .debug = flags & 2,
        .preserve_relocations = flags & 4,
        .callgraph = flags & 8 ? CALLGRAPH_DOT : CALLGRAPH_NONE,
        .version = "fuzz",
    };
    struct image image = {0};
    struct merge_report report = {0};
    struct buffer bytes = {0};
    struct cubin again = {0};

    /* What was merged must be a cubin that others can read. */
    if (merge_cubins(&image, cubins, count, &request, &report) && image_bytes(&image, &bytes) &&
        !cubin_read(&again, "merged", buffer_bytes(&bytes)))
        __builtin_trap();
    cubin_free(&again);
    buffer_free(&bytes);
    merge_report_free(&report);
    image_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_sink sink = {0};
    struct cubin cubins[2] = {0};
    const struct cubin *list[2] = {&cubins[0], &cubins[1]};
    uint32_t first;

    if (size < 5)
        return 0;
    memcpy(&first, data + 1, sizeof first);
    if (first > size - 5)
        first = (uint32_t)(size - 5);
    context_get()->sink = &sink;
    if (cubin_read(&cubins[0], "a.o", (struct bytes){data + 5, first})) {
        size_t count = 1;

        if (cubin_read(&cubins[1], "b.o", (struct bytes){data + 5 + first, size - 5 - first}))
            count = 2;
        merge(list, count, data[0]);
    }
    cubin_free(&cubins[0]);
    cubin_free(&cubins[1]);
    context_get()->sink = NULL;
    diag_sink_free(&sink);
    return 0;
}
