/* image_write.c: writes the image: to disk by libelf, which only writes to a file descriptor, or to
 * memory. minilink-internals(7), Where libelf is used, says how, and which headers libelf would
 * change or write at a cost: these are written after elf_update().
 *
 * Images that stay in memory are written without libelf: a memory file would cost time (measured:
 * 25 us beside 50 us for a link of two cubins) and a descriptor, and would count against the
 * process's file size limit. */
#include <elf.h>
#include <errno.h>
#include <libelf.h>
#include <limits.h>

#include "cubin/image.h"
#include "cubin/format.h"
#include "os/file.h"
#include "os/elf_file.h"
#include "os/program.h"
#include "output/output.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are put as they are");

static bool has_many_sections(const struct image *image)
{
    return image->section_count >= SHN_LORESERVE;
}

static Elf64_Ehdr file_header(const struct image *image)
{
    bool is_old = image->toolkit != 0;

    return (Elf64_Ehdr){
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
}

/* The null section's header holds the number of sections if e_shnum cannot. */
static Elf64_Shdr section_header(const struct image *image, size_t index)
{
    const struct image_section *section = &image->sections[index];

    if (index == 0)
        return (Elf64_Shdr){.sh_size = has_many_sections(image) ? image->section_count : 0};
    return (Elf64_Shdr){
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
}

/* Whether the section has contents of its own to write: without data the bytes are zeros, and
 * shared bytes are another section's. */
static bool has_contents(const struct image_section *section)
{
    return !section->has_no_bytes && !section->shares && section->data && section->size > 0;
}

/* Zeros up to byte `offset`. */
static void pad_to(struct buffer *out, uint64_t offset)
{
    if (out->size < offset)
        buffer_zeros(out, offset - out->size);
}

static void put_section_headers(const struct image *image, struct buffer *out)
{
    for (size_t i = 0; i < image->section_count; i++) {
        Elf64_Shdr record = section_header(image, i);

        buffer_append(out, &record, sizeof record);
    }
}

void image_bytes(const struct image *image, struct buffer *out)
{
    Elf64_Ehdr header = file_header(image);

    buffer_reserve(out, image->file_size);
    buffer_append(out, &header, sizeof header);
    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];

        if (!has_contents(section))
            continue;
        pad_to(out, section->offset);
        buffer_append(out, section->data, section->size);
    }
    pad_to(out, image->section_header_offset);
    put_section_headers(image, out);
    buffer_append(out, image->segments, image->segment_count * sizeof *image->segments);
}

/* Writes the contents from where they are. Those of adjacent sections, a few hundred bytes of a
 * kernel on average, and the zeros between them, go in one system call (measured: one for each
 * takes 24 ms for 40,000). */
static bool write_contents(const struct image *image, int fd)
{
    static char zeros[4096];
    struct iovec vectors[IOV_MAX];
    uint64_t begin = 0, end = 0;
    int count = 0;

    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        uint64_t gap = section->offset - end;

        if (!has_contents(section))
            continue;
        if (count > IOV_MAX - 2 || gap > sizeof zeros) {
            if (!descriptor_write_vectors(fd, vectors, count, begin))
                return false;
            count = 0;
        }
        if (count == 0)
            begin = section->offset;
        else if (gap > 0)
            vectors[count++] = (struct iovec){zeros, gap};
        vectors[count++] = (struct iovec){(void *)(uintptr_t)section->data, section->size};
        end = section->offset + section->size;
    }
    return descriptor_write_vectors(fd, vectors, count, begin);
}

/* An image while its headers are described to libelf. */
struct writer {
    const struct image *image;
    Elf *elf;
    bool has_other_headers; /* some section's header is not the one that libelf gets */
};

/* An image with so many sections is large. */
#define LARGE_IMAGE 2000u

/* A program that ends with its link leaves libelf's records of a large image to the kernel: freeing
 * a block for each section takes 2 % of the merge. */
static void close_elf(void *argument)
{
    static Elf *left __attribute__((used, unused)); /* so that leak detectors find it */
    struct writer *writer = argument;

    if (writer->image->section_count >= LARGE_IMAGE && self_exec_is_program())
        left = writer->elf;
    else
        elf_end(writer->elf);
}

/* Any failure while the image is described to libelf is a lack of memory, since the calls are
 * valid. elf_newscn() of libelf 0.188 then returns a section without a header, which must not be
 * used; only elf_errno() reveals the failure. */
static void check_libelf(const void *result)
{
    if (!result || elf_errno() != 0)
        context_raise(LINK_NO_MEMORY);
}

/* libelf knows neither NVIDIA's types of sections without contents, nor their flag that is ELF's
 * for compressed sections. */
static void describe_section(struct writer *writer, size_t index)
{
    const struct image_section *section = &writer->image->sections[index];
    Elf_Scn *place = elf_newscn(writer->elf);
    Elf64_Shdr *header;

    check_libelf(place);
    check_libelf(header = elf64_getshdr(place));
    *header = section_header(writer->image, index);
    if ((section->flags & SHF_COMPRESSED) ||
        (section->has_no_bytes && section->type != SHT_NOBITS)) {
        header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
        header->sh_size = section->has_no_bytes ? 0 : section->size;
        writer->has_other_headers = true;
    }
}

/* libelf adds the null section together with the first one. */
static void describe_image(struct writer *writer, int fd)
{
    const struct image *image = writer->image;
    Elf64_Ehdr *header;

    elf_library_begin();
    check_libelf(writer->elf = elf_begin(fd, ELF_C_WRITE, NULL));
    elf_flagelf(writer->elf, ELF_C_SET, ELF_F_LAYOUT | ELF_F_PERMISSIVE);
    check_libelf(header = elf64_newehdr(writer->elf));
    *header = file_header(image);
    header->e_version = EV_CURRENT;
    header->e_phoff = header->e_phnum = 0;
    for (size_t i = 1; i < image->section_count; i++)
        describe_section(writer, i);
}

/* Writes the headers that libelf writes otherwise: the file header, which has e_version 120 to 130
 * in CUDA 12's form, and program headers, which follow the section headers. */
static bool put_other_headers(const struct writer *writer, struct output *output)
{
    const struct image *image = writer->image;
    Elf64_Ehdr header = file_header(image);
    uint64_t place = image->program_header_offset;
    LOCAL_BUFFER(rest);

    if (writer->has_other_headers) {
        place = image->section_header_offset;
        put_section_headers(image, &rest);
    }
    buffer_append(&rest, image->segments, image->segment_count * sizeof *image->segments);
    return (descriptor_write_at(output->fd, &header, sizeof header, 0) &&
            descriptor_write_at(output->fd, rest.data, rest.size, place)) ||
           output_fail(output, errno);
}

/* Writes the image to a regular file. False with the output open if it must be written in another
 * way: contents cannot be read, or libelf refuses the headers, as a future one may. */
static bool write_with_libelf(const struct image *image, struct output *output)
{
    struct writer writer = {.image = image};
    int error;

    if (!write_contents(image, output->fd))
        return errno != EFAULT && output_fail(output, errno);
    CONTEXT_DEFER(close_elf, &writer);
    describe_image(&writer, output->fd);
    errno = 0;
    if (elf_update(writer.elf, ELF_C_WRITE) >= 0) {
        output->size = image->file_size;
        return put_other_headers(&writer, output);
    }
    error = errno;
    elf_library_failure();
    return error && output_fail(output, error);
}

/* A pipe or a device cannot be written out of order. Of a mapped input that has been truncated,
 * system calls fail; reading it here raises SIGBUS instead, whose handler names the file. */
bool image_append(const struct image *image, struct output *output)
{
    LOCAL_BUFFER(bytes);

    if (output->memory) {
        image_bytes(image, output->memory);
        output->size = image->file_size;
        return true;
    }
    if (output->temporary && write_with_libelf(image, output))
        return true;
    if (output->fd < 0)
        return false;
    image_bytes(image, &bytes);
    return output_append(output, buffer_bytes(&bytes));
}
