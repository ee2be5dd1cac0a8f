/* host_object.h: host objects with the sections that a test wants. */
#pragma once

#include <elf.h>

#include "base/memory.h"

/* One section of a host object. */
struct object_section {
    const char *name;
    struct bytes data;
};

/* Appends a host object (ELF for x86-64, relocatable) with these sections to `object`, which is
 * empty. */
static inline void object_make(struct buffer *object, const struct object_section *list,
                               size_t count)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)(count + 2),
                         .e_shstrndx = (uint16_t)(count + 1)};
    Elf64_Shdr none = {0}, names = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_addralign = 1};
    uint64_t data_at = sizeof header + (count + 2) * sizeof(Elf64_Shdr);

    header.e_shoff = sizeof header;
    buffer_append(object, &header, sizeof header);
    buffer_append(object, &none, sizeof none);
    names.sh_size = sizeof "\0.shstrtab";
    for (size_t i = 0; i < count; i++) {
        Elf64_Shdr section = {.sh_name = (uint32_t)names.sh_size,
                              .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_offset = data_at,
                              .sh_size = list[i].data.size,
                              .sh_addralign = 1};

        buffer_append(object, &section, sizeof section);
        names.sh_size += strlen(list[i].name) + 1;
        data_at += list[i].data.size;
    }
    names.sh_offset = data_at;
    buffer_append(object, &names, sizeof names);
    for (size_t i = 0; i < count; i++)
        if (list[i].data.size)
            buffer_append(object, list[i].data.data, list[i].data.size);
    buffer_append(object, "\0.shstrtab", sizeof "\0.shstrtab");
    for (size_t i = 0; i < count; i++)
        buffer_append(object, list[i].name, strlen(list[i].name) + 1);
}
