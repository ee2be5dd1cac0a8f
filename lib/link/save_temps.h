/* save_temps.h: --keep=DIR: intermediate results of the stages, as files for people and other
 * tools. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "lto/bitcode.h"
#include "lto/lto.h"
#include "ptx/program.h"
#include "split/split.h"

/* Each function writes into the folder `directory`, makes it if it is missing, and does nothing
 * when `directory` is NULL. False, and a fatal diagnostic, when a file cannot be written. */

/* The PTX that libnvJitLink made of LTO-IR: lto.ptx; and if it was joined from several parts,
 * lto-0.ptx, lto-1.ptx, ... */
bool save_temps_lto(const char *directory, const struct lto_result *lto);

/* The PTX that libLLVM made of bitcode: bitcode.ptx, or bitcode-0.ptx, bitcode-1.ptx, ... */
bool save_temps_bitcode(const char *directory, const struct bitcode_result *bitcode);

/* The whole program as one module: linked.ptx, or linked-INDEX.ptx if there are several (SIZE_MAX:
 * there are not). */
bool save_temps_program(const char *directory, const struct program *program, size_t index,
                        struct arch arch);

/* chunk-0.ptx, chunk-1.ptx, ... */
bool save_temps_chunks(const char *directory, const struct chunks *chunks);

/* chunk-0.cubin, chunk-1.cubin, ... */
bool save_temps_cubins(const char *directory, const struct cubins *cubins);

/* True for names that such files have in the folder. */
bool save_temps_is_name(const char *name);
