/* image_write.c: the image's bytes, through libelf.
 *
 * libelf is given each section's contents raw, at the offsets that image_layout chose, and writes a
 * memory file; the finished bytes then go to their place in one piece. */
#include <errno.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

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

static bool libelf_failed(const char *step)
{
    diag_fatal("libelf could not %s: %s", step, elf_errmsg(-1));
    return false;
}

static bool fill_file_header(Elf *elf, const struct image *image)
{
    Elf64_Ehdr *header = elf64_newehdr(elf);

    if (!header)
        return libelf_failed("make the ELF header");
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_OSABI] = CUBIN_OSABI;
    header->e_ident[EI_ABIVERSION] = CUBIN_ABI_VERSION;
    header->e_type = image->type;
    header->e_machine = EM_CUDA;
    header->e_version = EV_CURRENT;
    header->e_flags = image->flags;
    header->e_shoff = image->section_header_offset;
    header->e_phoff = image->program_header_offset;
    header->e_shstrndx = 1;
    return true;
}

static bool add_section(Elf *elf, const struct image_section *section)
{
    Elf_Scn *scn = elf_newscn(elf);
    Elf64_Shdr *header = scn ? elf64_getshdr(scn) : NULL;
    Elf_Data *data;

    if (!header)
        return libelf_failed("add a section");
    header->sh_name = section->name_offset;
    header->sh_type = section->type;
    header->sh_flags = section->flags;
    header->sh_offset = section->offset;
    header->sh_size = section->size;
    header->sh_link = section->link;
    header->sh_info = section->info;
    header->sh_addralign = section->alignment;
    header->sh_entsize = section->entry_size;
    /* NVIDIA's types without contents look to libelf as if they had some: it gets no data for them.
     */
    if (section->has_no_bytes && section->type != SHT_NOBITS)
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
    return add_segments(elf, image) &&
           (elf_update(elf, ELF_C_WRITE_MMAP) >= 0 || libelf_failed("write the cubin"));
}

static bool system_failed(const char *step)
{
    diag_fatal("Could not %s the cubin in memory: %s", step, strerror(errno));
    return false;
}

/* Writes the ELF file into the memory file `fd`. */
static bool write_elf(const struct image *image, int fd)
{
    Elf *elf;
    bool ok;

    call_once(&libelf_started, start_libelf);
    elf = elf_begin(fd, ELF_C_WRITE_MMAP, NULL);
    if (!elf)
        return libelf_failed("open the memory file");
    ok = fill_elf(elf, image);
    elf_end(elf);
    /* libelf counts the sizes of sections without contents in; the file ends where we laid it out.
     */
    return ok && (ftruncate(fd, (off_t)image->file_size) == 0 || system_failed("size"));
}

/* Writes the image into a new memory file and maps it. */
static bool map_image(const struct image *image, struct bytes *bytes)
{
    int fd = memfd_create("cubin", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    bool ok;

    if (fd < 0)
        return system_failed("create");
    ok = write_elf(image, fd);
    if (ok) {
        map = mmap(NULL, image->file_size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = map != MAP_FAILED || system_failed("map");
    }
    close(fd);
    if (ok)
        *bytes = (struct bytes){map, image->file_size};
    return ok;
}

bool image_bytes(const struct image *image, struct buffer *out)
{
    struct bytes bytes;

    if (!map_image(image, &bytes))
        return false;
    buffer_append(out, bytes.data, bytes.size);
    munmap((void *)(uintptr_t)bytes.data, bytes.size);
    return true;
}

bool image_write(const struct image *image, const char *path)
{
    struct bytes bytes;
    bool ok;

    if (!map_image(image, &bytes))
        return false;
    ok = output_write_file(path, bytes, false);
    munmap((void *)(uintptr_t)bytes.data, bytes.size);
    return ok;
}
