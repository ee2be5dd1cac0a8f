/* elf_library.h: what all that use libelf share: its state in the process, and its lack of memory.
 *
 * A handle of libelf belongs to one thread, which is all that libelf of Debian and others asks for
 * (it is built without locks of its own). What went wrong last is known to each thread. */
#pragma once

/* Before a handle is opened: sets libelf's version and, for gaps between sections, its fill byte,
 * once in the process, and forgets what went wrong in this thread before. */
void elf_library_begin(void);

/* Raises LINK_NO_MEMORY when that is why libelf's last call failed. Returns the text of what it
 * was otherwise, or NULL when libelf knows of no failure. */
const char *elf_library_failure(void);
