/* image_bytes.c: an image's file in memory.
 *
 * libelf writes to a file's descriptor only. What stays in memory (the result of a call of the
 * library, a chunk's cubin from the built-in assembler) has its records put by libelf's translation
 * to the file's form instead: a file in memory would cost a call as much again (measured: 25 us
 * beside 50 us for a link of two cubins), a descriptor, and room that a process's limit on the size
 * of files counts. */
#include <libelf.h>

#include "base/context.h"
#include "cubin/image.h"
#include "cubin/image_headers.h"
#include "os/elf_library.h"

/* Zeros up to byte `offset`. */
static void pad(struct buffer *out, uint64_t offset)
{
    if (out->size < offset)
        buffer_zeros(out, offset - out->size);
}

/* Appends one of ELF's records. */
static void put_record(struct buffer *out, Elf_Type type, void *record, size_t size)
{
    Elf_Data from = {
        .d_buf = record, .d_size = size, .d_type = type, .d_version = EV_CURRENT, .d_align = 1};
    Elf_Data to = from;

    buffer_reserve(out, size);
    to.d_buf = out->data + out->size;
    if (!elf64_xlatetof(&to, &from, ELFDATA2LSB))
        context_raise(LINK_INTERNAL);
    out->size += size;
}

static void put_headers(const struct image *image, struct buffer *out)
{
    pad(out, image->section_header_offset);
    for (size_t i = 0; i < image->section_count; i++) {
        Elf64_Shdr header = image_headers_section(image, i);

        put_record(out, ELF_T_SHDR, &header, sizeof header);
    }
    for (size_t i = 0; i < image->segment_count; i++) {
        Elf64_Phdr header = image_headers_segment(image, i);

        put_record(out, ELF_T_PHDR, &header, sizeof header);
    }
}

void image_bytes(const struct image *image, struct buffer *out)
{
    Elf64_Ehdr header = image_headers_file(image);

    elf_library_begin();
    buffer_reserve(out, image->file_size);
    put_record(out, ELF_T_EHDR, &header, sizeof header);
    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];

        if (!image_headers_contents(section))
            continue;
        pad(out, section->offset);
        buffer_append(out, section->data, section->size);
    }
    put_headers(image, out);
}
