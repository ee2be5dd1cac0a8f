/* pack_offload.c: one binary for each image, as clang-offload-packager writes them.
 *
 *     header | entry | offsets of the texts | texts, padding | image, padding */
#include "pack_offload.h"

#include "diag/diag.h"

#define ALIGNMENT    8u
#define MAGIC        0xad10ff10u
#define HEADER_SIZE  32u
#define ENTRY_SIZE   40u
#define PAIR_SIZE    16u
#define PAIRS        2u
#define TEXTS_OFFSET (HEADER_SIZE + ENTRY_SIZE + PAIRS * PAIR_SIZE)
#define KINDS        0x00020000u /* of the producer: CUDA, in the upper half */
#define KIND_BITCODE 2u
#define KIND_CUBIN   3u
#define KIND_PTX     5u
#define TRIPLE       "nvptx64-nvidia-cuda"

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_head(struct buffer *binaries, const struct image *image, size_t image_offset,
                     size_t image_size)
{
    unsigned kind = image->kind == FATBIN_BITCODE ? KIND_BITCODE
                    : image->kind == FATBIN_ELF   ? KIND_CUBIN
                                                  : KIND_PTX;

    buffer_u32(binaries, MAGIC);
    buffer_u32(binaries, 1);
    buffer_u64(binaries, aligned(image_offset + image_size));
    buffer_u64(binaries, HEADER_SIZE);
    buffer_u64(binaries, ENTRY_SIZE);
    buffer_u32(binaries, KINDS | kind);
    buffer_u32(binaries, 0);
    buffer_u64(binaries, HEADER_SIZE + ENTRY_SIZE);
    buffer_u64(binaries, PAIRS);
    buffer_u64(binaries, image_offset);
    buffer_u64(binaries, image_size);
}

bool pack_offload_append(struct buffer *binaries, const struct image *image, struct bytes contents,
                         const char *name)
{
    /* The first text is empty, as in an ELF string table. */
    static const char keys[] = "\0arch\0triple\0" TRIPLE;
    const size_t arch = 1, triple = 6, triple_value = 13, arch_value = sizeof keys;
    char sm[ARCH_NAME_SIZE];
    size_t start = binaries->size, arch_size = strlen(arch_name(image->arch, sm)) + 1;
    size_t image_offset = aligned(TEXTS_OFFSET + arch_value + arch_size);

    if (image->kind == FATBIN_NVVM) {
        diag_error("'%s' is LTO-IR, which no offload binary has", name);
        return false;
    }
    put_head(binaries, image, image_offset, contents.size);
    buffer_u64(binaries, TEXTS_OFFSET + arch);
    buffer_u64(binaries, TEXTS_OFFSET + arch_value);
    buffer_u64(binaries, TEXTS_OFFSET + triple);
    buffer_u64(binaries, TEXTS_OFFSET + triple_value);
    buffer_append(binaries, keys, sizeof keys);
    buffer_append(binaries, sm, arch_size);
    buffer_zeros(binaries, start + image_offset - binaries->size);
    buffer_append(binaries, contents.data, contents.size);
    buffer_zeros(binaries, aligned(contents.size) - contents.size);
    return true;
}
