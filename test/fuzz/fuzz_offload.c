/* fuzz_offload.c: any bytes as offload binaries, and their images, or the bytes, as bitcode. */
#include "fuzz.h"
#include "input/bitcode.h"
#include "input/offload.h"

struct visit {
    const uint8_t *begin, *end;
    unsigned count;
};

/* Every view must lie in the input. */
static void check_view(const struct visit *visit, const void *data, size_t size)
{
    const uint8_t *at = data;

    if (size > 0 && (at < visit->begin || at > visit->end || size > (size_t)(visit->end - at)))
        abort();
}

static bool check_image(void *argument, const struct offload_image *image)
{
    struct visit *visit = argument;
    struct bitcode bitcode;

    if (image->number != ++visit->count)
        visit->count = image->number; /* one without an image stands between */
    check_view(visit, image->data.data, image->data.size);
    check_view(visit, image->triple.data, image->triple.size);
    check_view(visit, image->arch.data, image->arch.size);
    if (bitcode_is(image->data) && bitcode_read(&bitcode, "image", image->data))
        check_view(visit, bitcode.code.data, bitcode.code.size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {fuzz_copy((struct bytes){data, size}), size};
    struct visit visit = {input.data, input.data + size, 0};
    struct bitcode bitcode;
    struct diag_sink sink;
    bool ok;

    fuzz_catch(&sink);
    if (bitcode_is(input))
        ok = bitcode_read(&bitcode, "x.bc", input);
    else
        ok = offload_walk("x.offload", input, check_image, &visit);
    if (fuzz_caught(&sink) == 0 && !ok)
        abort();
    free((void *)(uintptr_t)input.data);
    return 0;
}
