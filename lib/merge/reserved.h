/* reserved.h: variables in the shared memory that the driver reserves. */
#pragma once

#include "merge/merging.h"

/* Gives the variables their places in the reserve, behind what is the driver's own;
 * .nv.shared.reserved.0 and its Mercury twin get the size and alignment that they need. Under -r a
 * variable's value stays its alignment. Comes after layout_sections. False, and an error, when they
 * need more than the driver reserves. */
bool reserved_layout(struct merging *m);

/* A variable's value in Mercury's symbol table: the place without what is the driver's own. */
uint64_t reserved_twin_value(const struct merging *m, uint32_t variable);
