/* elf_file.h: libelf, and the section headers of ELF files by it. These are foreign: nothing that
 * they say is beyond the file's end. Without memory, LINK_NO_MEMORY is raised.
 *
 * A handle of libelf belongs to one thread; the libelf of Debian and others requires no more (it is
 * built without locks of its own). The last error is per thread. */
#pragma once

#include <gelf.h>

#include "base/text.h"

struct elf_file {
    struct bytes data;
    GElf_Ehdr header;
    Elf *elf;
    Elf_Scn *last;        /* what elf_file_next has taken last, or NULL */
    size_t section_count; /* with the one that is for no section; 0 = none */
    struct bytes names;   /* of sections; empty = not there */
};

/* Reads the header. False when it is no such file; else elf_file_close ends its use. */
bool elf_file_open(struct elf_file *file, struct bytes data);

/* `file` is a struct elf_file, which may be {0}; for CONTEXT_DEFER, too. */
void elf_file_close(void *file);

/* Finds the section headers. False, and the file is closed, when they are not all there. */
bool elf_file_find_sections(struct elf_file *file);

/* Takes the next section's header, from the second on. False at the end; then it begins anew. */
bool elf_file_next(struct elf_file *file, GElf_Shdr *section);

bool elf_file_has_name(const struct elf_file *file, const GElf_Shdr *section, const char *name);

/* The section's contents. False when they are not in the file. */
bool elf_file_contents(const struct elf_file *file, const GElf_Shdr *section,
                       struct bytes *contents);

/* To be called before a handle is opened: sets libelf's version and its fill byte for gaps between
 * sections, once in the process, and clears this thread's last error. */
void elf_library_begin(void);

/* Raises LINK_NO_MEMORY if libelf's last call failed for that reason. Otherwise returns the text of
 * the last error, or NULL if there is none. */
const char *elf_library_failure(void);
