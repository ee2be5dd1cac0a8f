/* fuzz_exact_join.c: any bytes as chunks of a whole program whose kernels are those of
 * fixtures/exact. The first byte says which kernels close a chunk, and whether there are lines; up
 * to four parts follow, each a cubin (fuzz_part). */
#include "cubin/cubin.h"
#include "join/join.h"
#include "fuzz.h"

#define MOST_CHUNKS 4

static void join(const struct exact_join_request *request)
{
    struct exact_join_difference why;
    struct buffer image = {0};

    if (!exact_join(&image, request, &why) &&
        (image.size > 0 || !why.what || why.chunk >= MOST_CHUNKS))
        __builtin_trap();
    buffer_free(&image);
}

static void fuzz(struct bytes rest)
{
    static const struct text kernels[] = {{"ka", 2}, {"kc", 2}, {"kd", 2}, {"kb", 2}};
    static const struct text of_forms[] = {{"ka", 2}, {"kb", 2}, {"kc", 2}, {"kd", 2}};
    static const struct text closing[] = {{"__minilink_closing_0", 20},
                                          {"__minilink_closing_1", 20}};
    uint8_t flags = fuzz_byte(&rest);
    struct bytes chunks[MOST_CHUNKS] = {0};
    struct exact_join_request request = {
        .chunks = chunks,
        .kernels = flags & 2 ? of_forms : kernels,
        .kernel_count = flags & 1 ? 3 : 4,
        .left_out = flags & 2 ? closing : &kernels[3],
        .left_out_count = flags & 2 ? flags >> 2 & 2 : flags & 1,
        .line_count = flags & 4 ? 48 : 0,
    };

    while (request.count < MOST_CHUNKS && rest.size)
        chunks[request.count++] = fuzz_part(&rest);
    join(&request);
}
