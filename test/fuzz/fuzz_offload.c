/* fuzz_offload.c: any bytes as offload binaries, and their images, or the bytes, as bitcode. */
#include "fuzz.h"
#include "input/rawcode.h"
#include "input/hostobj.h"

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

static void fuzz(struct bytes rest)
{
    struct visit visit = {rest.data, rest.data + rest.size, 0};
    struct bitcode bitcode;
    bool ok;

    if (bitcode_is(rest))
        ok = bitcode_read(&bitcode, "x.bc", rest);
    else
        ok = offload_walk("x.offload", rest, check_image, &visit);
    if (fuzz_errors() == 0 && !ok)
        abort();
}
