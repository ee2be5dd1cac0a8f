/* unified.h: functions and data with `.attribute(.unified(N, N))`, whose addresses an index file
 * (-uidx) gives.
 *
 * What such a file holds is not public, and nothing in CUDA 13.0 makes one, so that minilink cannot
 * link programs with unified symbols; it tells them, and files that cannot be an index, as nvlink
 * does. */
#pragma once

#include <stdbool.h>

#include "merge/merging.h"

/* Whether the file at `path` may be an index, which is an ELF file; NULL is none. False, and a
 * fatal diagnostic in nvlink's words, otherwise. */
bool unified_check_index(const char *path);

/* Where an executable is made no cubin may have unified symbols. False, and a fatal diagnostic,
 * otherwise. */
bool unified_check(const struct merging *m);
