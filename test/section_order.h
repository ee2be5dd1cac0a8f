/* section_order.h: a cubin with its sections in another order. */
#pragma once

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cubin/format.h"

static inline uint32_t section_order_number(uint32_t number, uint32_t section)
{
    return number == 1 ? section : number == section ? 1 : number;
}

/* In what a section says, other sections have their new numbers. */
static inline void section_order_rename(char *file, Elf64_Shdr *header, uint32_t section)
{
    char *data = file + header->sh_offset;

    header->sh_link = section_order_number(header->sh_link, section);
    if (header->sh_type == SHT_REL || header->sh_type == SHT_RELA ||
        (header->sh_flags & SHF_INFO_LINK))
        header->sh_info = section_order_number(header->sh_info, section);
    if (header->sh_type == SHT_CUDA_CAPMERC) {
        uint32_t code;

        memcpy(&code, data, sizeof code);
        code = section_order_number(code, section);
        memcpy(data, &code, sizeof code);
    }
    if (header->sh_type != SHT_SYMTAB && header->sh_type != SHT_CUDA_MERC_SYMTAB)
        return;
    for (size_t i = 0; i < header->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;

        memcpy(&symbol, data + i * sizeof symbol, sizeof symbol);
        symbol.st_shndx = (uint16_t)section_order_number(symbol.st_shndx, section);
        memcpy(data + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

/* A copy of the cubin, for the caller to free, in which section 1, where assemblers have .shstrtab,
 * has changed places with another. The cubin is taken to be a right one. */
static inline char *section_order_exchange(struct text cubin, uint32_t section)
{
    char *copy = memory_copy_string(cubin.data, cubin.size);
    Elf64_Ehdr head;
    Elf64_Shdr *headers;

    memcpy(&head, copy, sizeof head);
    headers = memory_alloc(head.e_shnum, sizeof *headers);
    memcpy(headers, copy + head.e_shoff, head.e_shnum * sizeof *headers);
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        section_order_rename(copy, &headers[i], section);
        memcpy(copy + head.e_shoff + section_order_number(i, section) * sizeof *headers,
               &headers[i], sizeof *headers);
    }
    head.e_shstrndx = (uint16_t)section_order_number(head.e_shstrndx, section);
    memcpy(copy, &head, sizeof head);
    free(headers);
    return copy;
}
