/* cudadevrt.h: whether the link needs libcudadevrt, which nvcc names on every command line.
 *
 * Measured on nvlink 13.0: the library's code takes part when another input calls one of its
 * functions, be it from code that is dead, and always with -keep-system-libraries. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"
#include "cubin/cubin.h"
#include "input/member.h"
#include "ptx/program.h"

/* Adds the names of the functions that `library` defines for others to `names`. */
void cudadevrt_add_names(struct table *names, const struct cubin *library);

/* True when `cubin` does not define one of the functions itself but names it. */
bool cudadevrt_is_called_by_cubin(const struct table *names, const struct cubin *cubin);

/* The same of the linked PTX. */
bool cudadevrt_is_called_by_program(const struct table *names, const struct program *program);

/* Puts the members' cubins and the program's (NULL = none) into `cubins`, in the order of the
 * output, and returns their number. `read` has the cubins of the members with that role. Measured
 * on nvlink 13.0: LTO-IR's code stands where its first member does, and libcudadevrt's behind all
 * others wherever it was named. */
size_t cudadevrt_order_cubins(const struct cubin **cubins, const struct members *members,
                              const struct cubin *read, const struct cubin *program);
