/* read_cubins.h: the members that are cubins already. */
#pragma once

#include "link/state.h"

/* Fills link->member_cubins, and of libcudadevrt's link->system_names. False, and errors, when one
 * cannot be read. */
bool read_cubins(struct link *link);
