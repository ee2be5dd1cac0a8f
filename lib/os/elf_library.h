/* elf_library.h: shared by all users of libelf: its state in the process, and its lack of memory.
 *
 * A handle of libelf belongs to one thread; the libelf of Debian and others requires no more (it is
 * built without locks of its own). The last error is per thread. */
#pragma once

#include "base/text.h"

/* To be called before a handle is opened: sets libelf's version and its fill byte for gaps between
 * sections, once in the process, and clears this thread's last error. */
void elf_library_begin(void);

/* Raises LINK_NO_MEMORY if libelf's last call failed for that reason. Otherwise returns the text of
 * the last error, or NULL if there is none. */
const char *elf_library_failure(void);

/* The contents of the first section with that name in an ELF file in memory, as a view; empty when
 * there is none, or the file is no ELF file or a damaged one. */
struct bytes elf_library_section(struct bytes file, const char *name);
