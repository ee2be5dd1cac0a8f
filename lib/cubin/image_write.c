/* image_write.c: the image's bytes, in one pass from the ELF header to the program headers.
 *
 * What stands in the file comes in rising order (image_layout), so that one window, which stays in
 * the processor's cache, is filled and handed on again and again: contents go from where they are,
 * mostly an input's mapping, through it into the output's pages, and no second image of the file is
 * made in memory. Numbers are little-endian, as CUDA's machines and ours are. */
#include <elf.h>
#include <stddef.h>

#include "base/context.h"
#include "base/output.h"
#include "cubin/format.h"
#include "cubin/image.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are copied as they are");

/* How much is handed to the kernel at once: enough that its calls do not count, few enough that the
 * window is still in the cache (measured: 64 KiB to 1 MiB take the same time). */
#define WINDOW_BYTES (1u << 18)

/* An image on its way into `out`, all of it or, with an output, a window. */
struct writer {
    const struct image *image;
    struct buffer *out;
    struct output *output; /* NULL: everything stays in `out` */
    uint64_t position;     /* in the file, of the next byte */
    struct buffer window;
};

static bool flush(struct writer *writer)
{
    bool ok = output_append(writer->output, buffer_bytes(writer->out));

    writer->out->size = 0;
    return ok;
}

/* Makes room for a part of `size` bytes at most, and says how much of it fits. */
static bool make_room(struct writer *writer, uint64_t size, size_t *fits)
{
    *fits = (size_t)size;
    if (!writer->output)
        return true;
    if (writer->out->size == WINDOW_BYTES && !flush(writer))
        return false;
    if (size > WINDOW_BYTES - writer->out->size)
        *fits = WINDOW_BYTES - writer->out->size;
    return true;
}

static bool put(struct writer *writer, const void *data, uint64_t size)
{
    const char *at = data;
    size_t fits;

    writer->position += size;
    for (; size > 0; size -= fits, at += fits) {
        if (!make_room(writer, size, &fits))
            return false;
        buffer_append(writer->out, at, fits);
    }
    return true;
}

/* Zeros up to `offset`, where the next part stands. */
static bool pad(struct writer *writer, uint64_t offset)
{
    size_t fits;

    for (; writer->position < offset; writer->position += fits) {
        if (!make_room(writer, offset - writer->position, &fits))
            return false;
        buffer_zeros(writer->out, fits);
    }
    return true;
}

/* A number of sections that does not fit stands in the null section. */
static bool has_many_sections(const struct image *image)
{
    return image->section_count >= SHN_LORESERVE;
}

static bool put_file_header(struct writer *writer)
{
    const struct image *image = writer->image;
    bool is_old = image->toolkit != 0;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
                    is_old ? CUBIN_OLD_OSABI : CUBIN_OSABI,
                    is_old ? CUBIN_OLD_ABI_VERSION : CUBIN_ABI_VERSION},
        .e_type = image->type,
        .e_machine = EM_CUDA,
        .e_version = is_old ? image->toolkit : EV_CURRENT,
        .e_phoff = image->program_header_offset,
        .e_shoff = image->section_header_offset,
        .e_flags = image->flags,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = image->segment_count ? sizeof(Elf64_Phdr) : 0,
        .e_phnum = (Elf64_Half)image->segment_count,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = has_many_sections(image) ? 0 : (Elf64_Half)image->section_count,
        .e_shstrndx = 1,
    };

    return put(writer, &header, sizeof header);
}

static bool put_contents(struct writer *writer)
{
    const struct image *image = writer->image;

    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];

        /* Without data they are zeros. */
        if (!section->has_no_bytes && !section->shares && section->data &&
            !(pad(writer, section->offset) && put(writer, section->data, section->size)))
            return false;
    }
    return true;
}

static bool put_section_headers(struct writer *writer)
{
    const struct image *image = writer->image;
    Elf64_Shdr first = {.sh_size = has_many_sections(image) ? image->section_count : 0};

    if (!pad(writer, image->section_header_offset) || !put(writer, &first, sizeof first))
        return false;
    for (size_t i = 1; i < image->section_count; i++) {
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

        if (!put(writer, &header, sizeof header))
            return false;
    }
    return true;
}

static bool put_segments(struct writer *writer)
{
    const struct image *image = writer->image;

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

        if (!put(writer, &header, sizeof header))
            return false;
    }
    return true;
}

static bool put_image(struct writer *writer)
{
    return put_file_header(writer) && put_contents(writer) && put_section_headers(writer) &&
           put_segments(writer);
}

void image_bytes(const struct image *image, struct buffer *out)
{
    struct writer writer = {.image = image, .out = out};

    buffer_reserve(out, image->file_size);
    put_image(&writer);
}

bool image_append(const struct image *image, struct output *output)
{
    struct writer writer = {.image = image, .output = output};
    struct context_cleanup cleanup;
    bool ok;

    writer.out = &writer.window;
    context_defer(&cleanup, buffer_cleanup, &writer.window);
    buffer_reserve(&writer.window, WINDOW_BYTES);
    ok = put_image(&writer) && flush(&writer);
    context_clean(&cleanup);
    return ok;
}

static void close_output(void *output)
{
    output_abort(output);
}

bool image_write(const struct image *image, const char *path)
{
    struct output output = {.fd = -1, .slot = -1};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, close_output, &output);
    ok =
        output_open(&output, path) && image_append(image, &output) && output_commit(&output, false);
    context_clean(&cleanup);
    return ok;
}
