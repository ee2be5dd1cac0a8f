/* elf_file.c: reads ELF's structures from bytes of any alignment. */
#include "base/elf_file.h"

bool elf_file_open(struct elf_file *file, struct bytes data)
{
    const unsigned char *ident = file->header.e_ident;

    *file = (struct elf_file){.data = data};
    if (data.size < sizeof file->header)
        return false;
    memcpy(&file->header, data.data, sizeof file->header);
    return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] == ELFDATA2LSB && ident[EI_VERSION] == EV_CURRENT;
}

bool elf_file_find_sections(struct elf_file *file)
{
    const Elf64_Ehdr *header = &file->header;
    uint64_t count = header->e_shnum, names = header->e_shstrndx;
    struct bytes part;
    Elf64_Shdr first;

    if (header->e_shoff == 0)
        return true;
    if (!bytes_slice(file->data, header->e_shoff, sizeof first, &part))
        return false;
    memcpy(&first, part.data, sizeof first);
    /* Numbers that are too large for the header are in the first section's. */
    count = count ? count : first.sh_size;
    names = names == SHN_XINDEX ? first.sh_link : names;
    if (count == 0 || count > file->data.size / sizeof first ||
        !bytes_slice(file->data, header->e_shoff, count * sizeof first, &file->sections))
        return false;
    if (names < count) {
        memcpy(&first, file->sections.data + names * sizeof first, sizeof first);
        elf_file_contents(file, &first, &file->names);
    }
    return true;
}

bool elf_file_next(const struct elf_file *file, size_t *at, Elf64_Shdr *section)
{
    if (*at >= file->sections.size)
        return false;
    memcpy(section, file->sections.data + *at, sizeof *section);
    *at += sizeof *section;
    return true;
}

bool elf_file_has_name(const struct elf_file *file, const Elf64_Shdr *section, const char *name)
{
    size_t size = strlen(name) + 1;
    struct bytes part;

    return bytes_slice(file->names, section->sh_name, size, &part) &&
           memcmp(part.data, name, size) == 0;
}

bool elf_file_contents(const struct elf_file *file, const Elf64_Shdr *section,
                       struct bytes *contents)
{
    return section->sh_type != SHT_NOBITS &&
           bytes_slice(file->data, section->sh_offset, section->sh_size, contents);
}
