/* whole_program.h: a cubin that needs no merge, since an assembler made it of a whole program.
 *
 * Measured on nvlink: under -lto, when nothing but LTO-IR is linked and the link is not split, the
 * output is byte for byte what ptxas writes for the program without -c: an executable, in which
 * each kernel has its own copies of the functions it calls. The same is done here; only names that
 * linking the PTX had to change are restored. */
#pragma once

#include <stdbool.h>

#include "merge/merge.h"
#include "split/split.h"

/* True for an executable cubin, by its ELF header. */
bool whole_program_is(struct bytes data);

/* Whether it has the requested ABI. */
bool whole_program_has_abi(struct bytes data, enum merge_abi wanted);

/* Takes the executable in data[0..size), of the chunk with the name `name`: checks it, restores its
 * symbols' names from chunks->symbols, in place, and fills in `report` (NULL = not wanted). False
 * when an error was reported. */
bool whole_program_take(void *data, size_t size, const char *name, const struct chunks *chunks,
                        struct merge_report *report);
