/* image_write.c: writes the image: to disk by libelf, which only writes to a file descriptor, or to
 * memory. minilink-internals(7), Where libelf is used, says how, and which records libelf would
 * change or write at a cost; these are written after elf_update(): program headers, the file
 * header, and headers of sections without contents whose type libelf does not know, or with a flag
 * from which it derives an alignment, as ELF uses it for compressed sections.
 *
 * Images that stay in memory are written without libelf: a memory file would cost time (measured:
 * 25 us beside 50 us for a link of two cubins) and a descriptor, and would count against the
 * process's file size limit. */
#include <elf.h>
#include <errno.h>
#include <libelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "cubin/image.h"
#include "cubin/format.h"
#include "os/descriptor.h"
#include "os/elf_library.h"
#include "os/self_exec.h"
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
    for (size_t i = 0; i < image->section_count; i++) {
        Elf64_Shdr record = section_header(image, i);

        buffer_append(out, &record, sizeof record);
    }
    buffer_append(out, image->segments, image->segment_count * sizeof *image->segments);
}

/* Smaller contents are copied into runs. A kernel's are a few hundred bytes on average, and a
 * system call for each costs more than writing the bytes (measured: 24 ms for 40,000). */
#define SMALL_BYTES 4096u

/* Largest gap in a run, filled with zeros: code is aligned to 128. */
#define LARGEST_GAP 256u

struct writer {
    const struct image *image;
    struct output *output;
    Elf *elf;
    bool is_single; /* each section's contents are passed by themselves */
    /* Small contents of successive sections, as they are laid out in the file, with the gaps
     * between them. */
    char *copies;
    struct {
        Elf_Scn *last; /* its last section so far; NULL: there is no run */
        char *bytes;
        uint64_t start; /* in the file */
        uint64_t size;
    } run;
    size_t exceptions; /* number of section headers that libelf gets in another form */
};

static void close_elf(void *argument)
{
    struct writer *writer = argument;

    elf_end(writer->elf);
    writer->elf = NULL;
    free(writer->copies);
    writer->copies = NULL;
}

/* Whether libelf would misinterpret the header. */
static bool is_exception(const struct image *image, size_t index)
{
    const struct image_section *section = &image->sections[index];

    return (section->flags & SHF_COMPRESSED) != 0 ||
           (section->has_no_bytes && section->type != SHT_NOBITS &&
            section->size > image->file_size - section->offset);
}

/* Any failure while the image is described to libelf is a lack of memory, since the calls are
 * valid. elf_newscn() of libelf 0.188 then returns a section without a header, which must not be
 * used; only elf_errno() reveals the failure. */
static void check_libelf(const void *result)
{
    if (!result || elf_errno() != 0)
        context_raise(LINK_NO_MEMORY);
}

static void add_section_data(Elf_Scn *place, const void *bytes, uint64_t size, int64_t offset)
{
    Elf_Data *data;

    check_libelf(data = elf_newdata(place));
    data->d_buf = (void *)(uintptr_t)bytes; /* libelf only reads it */
    data->d_size = size;
    data->d_off = offset;
    data->d_align = 1;
}

static bool is_small(const struct image_section *section)
{
    return has_contents(section) && section->size < SMALL_BYTES;
}

/* Passes the run to libelf as contents of its last section, with an offset before that section. */
static void end_run(struct writer *writer)
{
    if (writer->run.last)
        add_section_data(writer->run.last, writer->run.bytes, writer->run.size,
                         (int64_t)(elf64_getshdr(writer->run.last)->sh_size - writer->run.size));
    writer->run.last = NULL;
    writer->run.bytes += writer->run.size;
    writer->run.size = 0;
}

static void add_to_run(struct writer *writer, Elf_Scn *place, const struct image_section *section)
{
    uint64_t gap = section->offset - (writer->run.start + writer->run.size);

    if (!writer->run.last || gap > LARGEST_GAP) {
        end_run(writer);
        writer->run.start = section->offset;
        gap = 0;
    }
    memset(writer->run.bytes + writer->run.size, 0, gap);
    memcpy(writer->run.bytes + writer->run.size + gap, section->data, section->size);
    writer->run.size += gap + section->size;
    writer->run.last = place;
}

static void describe_section(struct writer *writer, size_t index)
{
    const struct image_section *section = &writer->image->sections[index];
    Elf_Scn *place = elf_newscn(writer->elf);
    Elf64_Shdr *header;

    check_libelf(place);
    check_libelf(header = elf64_getshdr(place));
    *header = section_header(writer->image, index);
    if (is_exception(writer->image, index)) {
        header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
        header->sh_size = has_contents(section) ? section->size : 0;
        writer->exceptions++;
    }
    if (is_small(section) && !writer->is_single) {
        add_to_run(writer, place, section);
    } else if (has_contents(section)) {
        end_run(writer);
        add_section_data(place, section->data, section->size, 0);
    }
}

/* libelf adds the null section together with the first one. */
static void describe_image(struct writer *writer)
{
    const struct image *image = writer->image;
    uint64_t room = 0, end = 0;
    Elf64_Ehdr *header;

    for (size_t i = 1; i < image->section_count && !writer->is_single; i++) {
        const struct image_section *section = &image->sections[i];

        if (is_small(section))
            room +=
                section->size + (section->offset - end <= LARGEST_GAP ? section->offset - end : 0);
        if (has_contents(section))
            end = section->offset + section->size;
    }
    writer->copies = writer->run.bytes = memory_alloc(room, 1);
    elf_library_begin();
    check_libelf(writer->elf = elf_begin(writer->output->fd, ELF_C_WRITE, NULL));
    elf_flagelf(writer->elf, ELF_C_SET, ELF_F_LAYOUT | ELF_F_PERMISSIVE);
    check_libelf(header = elf64_newehdr(writer->elf));
    *header = file_header(image);
    header->e_version = EV_CURRENT;
    header->e_phoff = header->e_phnum = 0;
    writer->exceptions = 0;
    for (size_t i = 1; i < image->section_count; i++)
        describe_section(writer, i);
    end_run(writer);
}

/* If a mapped input has been truncated, a system call fails with EFAULT. Reading it here raises
 * SIGBUS instead, whose handler names the file. */
static void touch_contents(const struct image *image)
{
    for (size_t i = 1; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        const volatile char *bytes = section->data;

        for (uint64_t at = 0; has_contents(section) && at < section->size; at++)
            (void)bytes[at];
    }
}

static bool update_failed(struct writer *writer, int error)
{
    if (error == EFAULT)
        touch_contents(writer->image);
    return output_fail(writer->output, error ? error : EIO);
}

/* After a write error errno is that of the system call; libelf's other errors occur before it
 * writes anything. A future libelf may refuse contents that begin before their section; then
 * contents are passed singly. */
static bool lay_out_sections(struct writer *writer)
{
    int error;

    errno = 0;
    if (elf_update(writer->elf, ELF_C_WRITE) >= 0)
        return true;
    error = errno;
    elf_library_failure();
    if (error || writer->is_single)
        return update_failed(writer, error);
    close_elf(writer);
    writer->is_single = true;
    describe_image(writer);
    return lay_out_sections(writer);
}

static bool put_written_record(const struct writer *writer, const void *record, size_t size,
                               uint64_t offset)
{
    return descriptor_write_at(writer->output->fd, record, size, offset) ||
           output_fail(writer->output, errno);
}

static bool put_exceptions(const struct writer *writer)
{
    const struct image *image = writer->image;

    for (size_t i = 1; writer->exceptions > 0 && i < image->section_count; i++) {
        Elf64_Shdr header = section_header(image, i);

        if (is_exception(image, i) &&
            !put_written_record(writer, &header, sizeof header,
                                image->section_header_offset + i * sizeof header))
            return false;
    }
    return true;
}

static bool put_rest(const struct writer *writer)
{
    const struct image *image = writer->image;
    Elf64_Ehdr header = file_header(image);
    bool is_told = image->segment_count == 0 && header.e_version == EV_CURRENT;

    return (is_told || put_written_record(writer, &header, sizeof header, 0)) &&
           put_exceptions(writer) &&
           put_written_record(writer, image->segments,
                              image->segment_count * sizeof *image->segments,
                              image->program_header_offset);
}

/* An image with so many sections is large. */
#define LARGE_IMAGE 2000u

/* A program that ends with its link leaves libelf's many records to the kernel: freeing a block for
 * each section takes 3 % of a large merge. */
static void leave_elf(struct writer *writer)
{
    static Elf *left __attribute__((used, unused)); /* so that leak detectors find it */

    left = writer->elf;
    writer->elf = NULL;
}

static bool write_image_file(const struct image *image, struct output *output)
{
    struct writer writer = {.image = image, .output = output};
    bool is_large = image->section_count >= LARGE_IMAGE, ok;

    CONTEXT_DEFER(close_elf, &writer);
    describe_image(&writer);
    ok = lay_out_sections(&writer) && put_rest(&writer);
    output->size = ok ? image->file_size : 0;
    if (ok && is_large && self_exec_is_program())
        leave_elf(&writer);
    return ok;
}

/* A pipe or a device cannot be written out of order. */
bool image_append(const struct image *image, struct output *output)
{
    struct buffer bytes = {0};

    if (output->memory) {
        image_bytes(image, output->memory);
        output->size = image->file_size;
        return true;
    }
    if (output->temporary)
        return write_image_file(image, output);
    CONTEXT_DEFER(buffer_cleanup, &bytes);
    image_bytes(image, &bytes);
    return output_append(output, buffer_bytes(&bytes));
}
