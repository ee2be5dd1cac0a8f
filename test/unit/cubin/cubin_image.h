/* cubin_image.h: a cubin as an image, so that it can be written as a file again. */
#pragma once

#include "cubin/cubin.h"
#include "cubin/image.h"

/* Makes *image of a cubin and lays it out: the same sections in the same order, with string tables
 * made anew behind the prototypes that the cubin's own one holds. The image has views into the
 * cubin. False, and an error, when the cubin does not begin with .shstrtab or has no symbol table.
 */
bool cubin_image(struct image *image, const struct cubin *cubin);
