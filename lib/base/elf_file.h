/* elf_file.h: the section headers of 64-bit little-endian ELF files, which are foreign: nothing
 * that they say is beyond the file's end. */
#pragma once

#include <elf.h>

#include "base/text.h"

struct elf_file {
    struct bytes data;
    Elf64_Ehdr header;
    struct bytes sections; /* their headers; empty = none */
    struct bytes names;    /* of sections; empty = not there */
};

/* Reads the header. False when it is cut off, or that of another kind of file. */
bool elf_file_open(struct elf_file *file, struct bytes data);

/* Finds the section headers. False when they are not all there. */
bool elf_file_find_sections(struct elf_file *file);

/* Takes the next section header, from byte *at of them on, which is 0 at first. False at the end.
 */
bool elf_file_next(const struct elf_file *file, size_t *at, Elf64_Shdr *section);

bool elf_file_has_name(const struct elf_file *file, const Elf64_Shdr *section, const char *name);

/* The section's contents. False when they are not in the file. */
bool elf_file_contents(const struct elf_file *file, const Elf64_Shdr *section,
                       struct bytes *contents);
