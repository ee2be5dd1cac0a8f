/* fuzz_cubin.c: any bytes as a cubin: reading must refuse or be right, and what was read must
 * survive joining (with itself as a second chunk too) and writing. Seeds: fixtures/cubin/ *.cubin.
 */
#include "join/join.h"
#include "unit/cubin/cubin_image.h"
#include "fuzz.h"

static void join(const struct cubin *const *list, size_t count)
{
    static const struct chunk_symbol symbols[] = {
        {{"counter$p", 9}, {"counter", 7}, CHUNK_LOCAL, false, false, 4},
        {{"small", 5}, {"small", 5}, CHUNK_LOCAL, true, false, 0},
        {{"k1", 2}, {"k1", 2}, CHUNK_WEAK, true, false, 0},
    };
    struct cubin joined;
    struct image image;

    if (join_cubins(&joined, list, count, symbols, sizeof symbols / sizeof *symbols, false)) {
        struct buffer bytes = {0};
        struct cubin again = {0};

        /* What was joined must be a cubin that others can read. */
        if (cubin_image(&image, &joined)) {
            image_bytes(&image, &bytes);
            if (!cubin_read(&again, "joined", buffer_bytes(&bytes)))
                __builtin_trap();
        }
        cubin_free(&again);
        image_free(&image);
        buffer_free(&bytes);
    }
    cubin_free(&joined);
}

static void fuzz(struct bytes rest)
{
    struct cubin cubin, second = {0};
    const struct cubin *list[] = {&cubin, &second};

    if (cubin_read(&cubin, "input", rest)) {
        join(list, 1);
        if (cubin_read(&second, "second", rest))
            join(list, 2);
    }
    cubin_free(&second);
    cubin_free(&cubin);
}
