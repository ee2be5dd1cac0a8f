/* fuzz_minifat.c: any bytes as PTX, cubin, LTO-IR and bitcode; what is accepted is packed. Link it
 * with cmd/minifat's inspect.c and pack.c. */
#include "../../cmd/minifat/minifat.h"
#include "input/fatbin.h"
#include "input/hostobj.h"
#include "fuzz.h"

static bool is_whole(void *argument, const struct offload_image *image)
{
    const struct bytes *wanted = argument;

    return image->data.size == wanted->size &&
           memcmp(image->data.data, wanted->data, wanted->size) == 0 && offload_is_device(image);
}

/* What is packed can be read. */
static void try_offload(const struct inspected *image, struct bytes data)
{
    struct buffer binaries = {0};

    if (pack_offload(&binaries, image, data, "input") &&
        (binaries.size % 8 || !offload_walk("packed", buffer_bytes(&binaries), is_whole, &data)))
        abort();
    buffer_free(&binaries);
}

/* Two of the same, packed together, can be read. */
static void try_concatenated(const struct inspected *image, struct pack_request request)
{
    struct pack_parts parts = {0};
    struct buffer container = {0};
    struct fatbin fatbin;
    struct fatbin_entry entry;
    size_t size;

    if (request.compression == PACK_STORED)
        request.compression = PACK_ZSTD;
    pack_begin(&container);
    if (!pack_part(&parts, image, &request, "input") ||
        !pack_part(&parts, image, &request, "input") ||
        !pack_concatenated(&container, &parts, &request))
        abort();
    pack_end(&container);
    if (!fatbin_open(&fatbin, "packed", buffer_bytes(&container), &size))
        abort();
    for (unsigned i = 1; i <= 2; i++) {
        struct inflation inflation = {0};
        struct arena arena = {0};
        struct bytes code;

        if (fatbin_next(&fatbin, &entry) != FATBIN_ENTRY || entry.part != i ||
            !inflate_entry(&entry, "packed(1)", &inflation, &arena, &code) ||
            code.size < image->code.size ||
            memcmp(code.data, image->code.data, image->code.size) != 0)
            abort();
        arena_free(&arena);
    }
    if (fatbin_next(&fatbin, &entry) != FATBIN_END)
        abort();
    buffer_free(&parts.records);
    buffer_free(&parts.payload);
    buffer_free(&container);
}

static void pack_as(enum fatbin_kind kind, struct bytes data)
{
    struct input_file file = {.path = "input", .data = data};
    struct inspect_request request = {.kind = kind};
    struct pack_request pack = {.compression = (enum pack_compression)(data.size % 4)};
    struct inspected image = {0};
    struct buffer container = {0};

    if (kind == FATBIN_NVVM)
        request.arch.sm = 90;
    if (inspect_file(&file, &request, &image)) {
        pack_begin(&container);
        if (pack_entry(&container, &image, TEXT("-O1"), &pack, "input") !=
                (kind != FATBIN_BITCODE) ||
            container.size % 8)
            abort();
        try_offload(&image, data);
        if (kind == FATBIN_ELF)
            try_concatenated(&image, pack);
        pack_end(&container);
    }
    buffer_free(&container);
    inspect_free(&image);
}

static void fuzz(struct bytes rest)
{
    pack_as(FATBIN_PTX, rest);
    pack_as(FATBIN_ELF, rest);
    pack_as(FATBIN_NVVM, rest);
    pack_as(FATBIN_BITCODE, rest);
}
