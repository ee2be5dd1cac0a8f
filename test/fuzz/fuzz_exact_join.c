/* fuzz_exact_join.c: any bytes as chunks of a whole program whose kernels are those of
 * fixtures/exact. The first byte says which kernels close a chunk; up to four parts follow, each a
 * cubin (fuzz_part). */
#include "cubin/cubin.h"
#include "join/exact_join.h"
#include "fuzz.h"

#define MOST_CHUNKS 4

static void join(const struct exact_join_request *request)
{
    struct exact_join_difference why;
    struct buffer image = {0};

    if (exact_join(&image, request, &why) != EXACT_JOIN_OK &&
        (image.size > 0 || !why.what || why.chunk >= MOST_CHUNKS))
        __builtin_trap();
    buffer_free(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct text kernels[] = {{"ka", 2}, {"kc", 2}, {"kd", 2}, {"kb", 2}};
    struct bytes rest = {data, size};
    uint8_t flags = fuzz_byte(&rest);
    struct exact_join_chunk chunks[MOST_CHUNKS] = {0};
    struct exact_join_request request = {
        .chunks = chunks, .kernels = kernels, .kernel_count = flags & 1 ? 3 : 4};
    uint8_t *copies[MOST_CHUNKS] = {0};
    struct diag_sink sink;

    fuzz_catch(&sink);
    while (request.count < MOST_CHUNKS && rest.size) {
        struct bytes part = fuzz_part(&rest);
        struct exact_join_chunk *chunk = &chunks[request.count];

        copies[request.count] = fuzz_copy(part);
        chunk->cubin = (struct bytes){copies[request.count++], part.size};
        chunk->left_out = &kernels[3];
        chunk->left_out_count = flags & 1;
    }
    join(&request);
    for (size_t i = 0; i < MOST_CHUNKS; i++)
        free(copies[i]);
    fuzz_caught(&sink);
    return 0;
}
