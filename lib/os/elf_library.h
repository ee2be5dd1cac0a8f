/* elf_library.h: shared by all users of libelf: its state in the process, and its lack of memory.
 *
 * A handle of libelf belongs to one thread; the libelf of Debian and others requires no more (it is
 * built without locks of its own). The last error is per thread. */
#pragma once

/* To be called before a handle is opened: sets libelf's version and its fill byte for gaps between
 * sections, once in the process, and clears this thread's last error. */
void elf_library_begin(void);

/* Raises LINK_NO_MEMORY if libelf's last call failed for that reason. Otherwise returns the text of
 * the last error, or NULL if there is none. */
const char *elf_library_failure(void);
