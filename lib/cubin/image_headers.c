/* image_headers.c: what an image says of itself, in ELF's records. */
#include "cubin/image_headers.h"

#include "cubin/format.h"

/* A number of sections that does not fit stands in the null section. */
static bool has_many_sections(const struct image *image)
{
    return image->section_count >= SHN_LORESERVE;
}

Elf64_Ehdr image_headers_file(const struct image *image)
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

Elf64_Shdr image_headers_section(const struct image *image, size_t index)
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

Elf64_Phdr image_headers_segment(const struct image *image, size_t index)
{
    const struct image_segment *segment = &image->segments[index];

    return (Elf64_Phdr){
        .p_type = segment->type,
        .p_flags = segment->flags,
        .p_offset = segment->offset,
        .p_filesz = segment->file_size,
        .p_memsz = segment->memory_size,
        .p_align = 8,
    };
}

bool image_headers_contents(const struct image_section *section)
{
    return !section->has_no_bytes && !section->shares && section->data && section->size > 0;
}
