/* read_cubins.h: the members that are cubins already. */
#ifndef MINILINK_LINK_READ_CUBINS_H
#define MINILINK_LINK_READ_CUBINS_H

#include "link/state.h"

/* Fills link->member_cubins, and of libcudadevrt's link->system_names. False, and errors, when one
 * cannot be read. */
bool read_cubins(struct link *link);

#endif
