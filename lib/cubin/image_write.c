/* image_write.c: the image's bytes, piece by piece in the order of their offsets.
 *
 * The image is an ELF file already, but for its headers: they are made here from <elf.h>'s structs,
 * and sections go out from where they lie. To a file they pass through a small buffer, so writing
 * needs no memory of the output's size and no call per section. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "cubin/format.h"
#include "cubin/image.h"

#define STAGED_BYTES (1u << 18)

/* Where pieces go: all into `bytes`, or through it to `file`. */
struct sink {
    struct buffer *bytes;
    struct output *file; /* NULL: keep everything in `bytes` */
    uint64_t position;   /* in the ELF file */
    bool failed;
};

static bool flush(struct sink *sink)
{
    if (!sink->failed && sink->file)
        sink->failed = !output_write(sink->file, buffer_bytes(sink->bytes));
    if (sink->file)
        sink->bytes->size = 0;
    return !sink->failed;
}

static void put(struct sink *sink, const void *data, uint64_t size)
{
    sink->position += size;
    if (sink->file && sink->bytes->size + size > STAGED_BYTES) {
        flush(sink);
        if (size > STAGED_BYTES) {
            if (!sink->failed)
                sink->failed = !output_write(sink->file, (struct bytes){data, size});
            return;
        }
    }
    buffer_append(sink->bytes, data, size);
}

/* Zeros up to `offset`: less than a section's alignment, which a file may make large. */
static void put_gap(struct sink *sink, uint64_t offset)
{
    while (sink->position < offset) {
        uint64_t rest = offset - sink->position;
        uint64_t size = rest < STAGED_BYTES ? rest : STAGED_BYTES;

        if (sink->file && sink->bytes->size + size > STAGED_BYTES)
            flush(sink);
        buffer_zeros(sink->bytes, size);
        sink->position += size;
    }
}

/* Beyond SHN_LORESERVE sections, their number stands in the first section header (ELF gABI). */
static bool has_many_sections(const struct image *image)
{
    return image->section_count >= SHN_LORESERVE;
}

static void put_file_header(struct sink *sink, const struct image *image)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                    CUBIN_OSABI, CUBIN_ABI_VERSION},
        .e_type = image->type,
        .e_machine = EM_CUDA,
        .e_version = EV_CURRENT,
        .e_phoff = image->program_header_offset,
        .e_shoff = image->section_header_offset,
        .e_flags = image->flags,
        .e_ehsize = sizeof header,
        .e_phentsize = image->segment_count ? sizeof(Elf64_Phdr) : 0,
        .e_phnum = (Elf64_Half)image->segment_count,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = has_many_sections(image) ? 0 : (Elf64_Half)image->section_count,
        .e_shstrndx = 1,
    };

    put(sink, &header, sizeof header);
}

static void put_sections(struct sink *sink, const struct image *image)
{
    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];

        if (section->has_no_bytes || section->size == 0)
            continue;
        put_gap(sink, section->offset);
        put(sink, section->data, section->size);
    }
}

static void put_section_headers(struct sink *sink, const struct image *image)
{
    put_gap(sink, image->section_header_offset);
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        Elf64_Shdr header = {
            .sh_name = section->name_offset,
            .sh_type = section->type,
            .sh_flags = section->flags,
            .sh_offset = section->offset,
            .sh_size = section->size,
            .sh_link = section->link,
            .sh_info = section->info,
            .sh_addralign = section->alignment,
            .sh_entsize = section->entry_size,
        };

        if (i == 0 && has_many_sections(image))
            header.sh_size = image->section_count;
        put(sink, &header, sizeof header);
    }
}

static void put_segments(struct sink *sink, const struct image *image)
{
    if (image->segment_count)
        put_gap(sink, image->program_header_offset);
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *segment = &image->segments[i];
        Elf64_Phdr header = {
            .p_type = segment->type,
            .p_flags = segment->flags,
            .p_offset = segment->offset,
            .p_filesz = segment->file_size,
            .p_memsz = segment->memory_size,
            .p_align = 8,
        };

        put(sink, &header, sizeof header);
    }
}

static void put_image(struct sink *sink, const struct image *image)
{
    put_file_header(sink, image);
    put_sections(sink, image);
    put_section_headers(sink, image);
    put_segments(sink, image);
}

void image_bytes(const struct image *image, struct buffer *out)
{
    struct sink sink = {.bytes = out};

    buffer_reserve(out, image->file_size);
    put_image(&sink, image);
}

bool image_write(const struct image *image, const char *path)
{
    struct buffer staged = {0};
    struct output output;
    struct sink sink = {.bytes = &staged, .file = &output};
    bool ok;

    if (!output_open(&output, path))
        return false;
    put_image(&sink, image);
    ok = flush(&sink);
    buffer_free(&staged);
    return ok && output_commit(&output, false);
}
