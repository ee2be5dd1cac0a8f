/* member_cubins.h: reads, drops and orders the members that are machine code.
 *
 * nvcc names libcudadevrt on every command line. Measured on nvlink: the library's code takes part
 * when another input calls one of its functions, even from dead code, and always with
 * -keep-system-libraries. */
#pragma once

#include "link/state.h"

/* Fills link->member_cubins, and link->system_names for libcudadevrt. False, and errors, when a
 * cubin cannot be read. */
bool member_cubins_read(struct link *link);

/* Drops libcudadevrt when neither the linked PTX nor another cubin calls it. */
void member_cubins_drop_unused(struct link *link);

/* Puts the members' cubins and those made of the groups (`made_count` of them: one for each group,
 * or none) into `cubins`, in the order of the output, and returns their number. Measured on nvlink:
 * libcudadevrt's code is behind all others, wherever it was named. */
size_t member_cubins_order(const struct cubin **cubins, const struct link *link,
                           const struct cubin *made, size_t made_count);

/* Tells of cubins that nvlink of the toolkit that is followed refuses: what a newer toolkit made,
 * or an older one's ptxas -ewp. */
void member_cubins_tell_of_refused(const struct link *link);
