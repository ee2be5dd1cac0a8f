/* image_write.c: the image's bytes, through libelf.
 *
 * libelf is given each section's contents raw, at the offsets that image_layout chose, and writes a
 * memory file; the finished bytes then go to their place in one piece. */
#include <errno.h>
#include <libelf.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/output.h"
#include "cubin/format.h"
#include "cubin/image.h"

/* elf_version() writes a variable of the library, and workers write cubins at the same time. */
static once_flag libelf_started = ONCE_FLAG_INIT;

static void start_libelf(void)
{
    elf_version(EV_CURRENT);
}

/* What is open while an image is written. */
struct writer {
    const struct image *image;
    int fd; /* of the memory file, or -1 */
    Elf *elf;
    struct bytes bytes; /* the memory file, mapped */
};

static void close_writer(void *argument)
{
    struct writer *writer = argument;

    elf_end(writer->elf);
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->bytes.size)
        munmap((void *)(uintptr_t)writer->bytes.data, writer->bytes.size);
}

/* A memory file that cannot grow is memory that has run out. libelf's number for that is not
 * public; its text is. */
static bool libelf_failed(const char *step)
{
    bool is_full = errno == ENOMEM || errno == ENOSPC;
    const char *why = elf_errmsg(elf_errno());

    if (is_full || !why || strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("libelf could not %s: %s", step, why);
    return false;
}

static bool fill_file_header(Elf *elf, const struct image *image)
{
    Elf64_Ehdr *header = elf64_newehdr(elf);

    if (!header)
        return libelf_failed("make the ELF header");
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_OSABI] = image->toolkit ? CUBIN_OLD_OSABI : CUBIN_OSABI;
    header->e_ident[EI_ABIVERSION] = image->toolkit ? CUBIN_OLD_ABI_VERSION : CUBIN_ABI_VERSION;
    header->e_type = image->type;
    header->e_machine = EM_CUDA;
    header->e_version = EV_CURRENT;
    header->e_flags = image->flags;
    header->e_shoff = image->section_header_offset;
    header->e_phoff = image->program_header_offset;
    header->e_shstrndx = 1;
    return true;
}

/* NVIDIA's types without contents look to libelf as if they had some. Told their sizes it would
 * make room for them in the file, which may be gigabytes: they are written as empty, and their
 * sizes put into the headers afterwards. So are sections whose bytes another one writes. */
static bool looks_full(const struct image_section *section)
{
    return (section->has_no_bytes && section->type != SHT_NOBITS) || section->shares != 0;
}

static bool add_section(Elf *elf, const struct image_section *section)
{
    Elf_Scn *scn;
    Elf64_Shdr *header;
    Elf_Data *data;

    /* Without memory for the header, elf_newscn (elfutils 0.188) returns a section all the same, on
     * which elf64_getshdr crashes. */
    elf_errno();
    scn = elf_newscn(elf);
    header = scn && elf_errno() == 0 ? elf64_getshdr(scn) : NULL;
    if (!header)
        return libelf_failed("add a section");
    header->sh_name = section->name_offset;
    header->sh_type = section->type;
    header->sh_flags = section->flags;
    header->sh_offset = section->offset;
    header->sh_size = looks_full(section) ? 0 : section->size;
    header->sh_link = section->link;
    header->sh_info = section->info;
    header->sh_addralign = section->alignment;
    header->sh_entsize = section->entry_size;
    if (looks_full(section))
        return true;
    data = elf_newdata(scn);
    if (!data)
        return libelf_failed("add a section's data");
    data->d_type = ELF_T_BYTE;
    data->d_version = EV_CURRENT;
    data->d_align = 1;
    data->d_size = section->size;
    data->d_buf = section->has_no_bytes ? NULL : (void *)(uintptr_t)section->data;
    return true;
}

static bool add_segments(Elf *elf, const struct image *image)
{
    Elf64_Phdr *headers;

    if (image->segment_count == 0)
        return true;
    headers = elf64_newphdr(elf, image->segment_count);
    if (!headers)
        return libelf_failed("make the program headers");
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *segment = &image->segments[i];

        headers[i] = (Elf64_Phdr){.p_type = segment->type,
                                  .p_flags = segment->flags,
                                  .p_offset = segment->offset,
                                  .p_filesz = segment->file_size,
                                  .p_memsz = segment->memory_size,
                                  .p_align = 8};
    }
    return true;
}

static bool fill_elf(Elf *elf, const struct image *image)
{
    elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
    if (!fill_file_header(elf, image))
        return false;
    for (size_t i = 1; i < image->section_count; i++)
        if (!add_section(elf, &image->sections[i]))
            return false;
    return add_segments(elf, image);
}

/* The machine is at fault. */
static _Noreturn void system_failed(const char *step)
{
    if (errno == ENOMEM || errno == ENOSPC)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("Could not %s the cubin in memory: %s", step, strerror(errno));
    context_raise(LINK_ENVIRONMENT);
}

static void write_sizes(const struct image *image, int fd)
{
    for (size_t i = 1; i < image->section_count; i++) {
        uint64_t offset =
            image->section_header_offset + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);

        if (looks_full(&image->sections[i]) &&
            pwrite(fd, &image->sections[i].size, 8, (off_t)offset) != 8)
            system_failed("write");
    }
}

static void set_size(const struct writer *writer)
{
    if (ftruncate(writer->fd, (off_t)writer->image->file_size))
        system_failed("size");
}

/* What CUDA 12 has there, libelf does not write. */
static void write_version(const struct image *image, int fd)
{
    if (image->toolkit != 0 && pwrite(fd, &image->toolkit, sizeof image->toolkit,
                                      offsetof(Elf64_Ehdr, e_version)) != sizeof image->toolkit)
        system_failed("write");
}

/* Writes the ELF file into the memory file. */
static bool write_elf(struct writer *writer)
{
    call_once(&libelf_started, start_libelf);
    errno = 0;
    writer->elf = elf_begin(writer->fd, ELF_C_WRITE_MMAP, NULL);
    if (!writer->elf)
        return libelf_failed("open the memory file");
    if (!fill_elf(writer->elf, writer->image))
        return false;
    if (elf_update(writer->elf, ELF_C_WRITE_MMAP) < 0) {
        /* libelf does not say why a file cannot be so large. */
        set_size(writer);
        return libelf_failed("write the cubin");
    }
    elf_end(writer->elf);
    writer->elf = NULL;
    write_sizes(writer->image, writer->fd);
    write_version(writer->image, writer->fd);
    set_size(writer);
    return true;
}

/* Writes the image into a new memory file and maps it. */
static bool map_image(struct writer *writer)
{
    void *map;

    writer->fd = memfd_create("cubin", MFD_CLOEXEC);
    if (writer->fd < 0)
        system_failed("create");
    if (!write_elf(writer))
        return false;
    map = mmap(NULL, writer->image->file_size, PROT_READ, MAP_PRIVATE, writer->fd, 0);
    if (map == MAP_FAILED)
        system_failed("map");
    writer->bytes = (struct bytes){map, writer->image->file_size};
    return true;
}

bool image_bytes(const struct image *image, struct buffer *out)
{
    struct writer writer = {.image = image, .fd = -1};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, close_writer, &writer);
    ok = map_image(&writer);
    if (ok)
        buffer_append(out, writer.bytes.data, writer.bytes.size);
    context_clean(&cleanup);
    return ok;
}

bool image_write(const struct image *image, const char *path)
{
    struct writer writer = {.image = image, .fd = -1};
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, close_writer, &writer);
    ok = map_image(&writer) && output_write_file(path, writer.bytes, false);
    context_clean(&cleanup);
    return ok;
}
