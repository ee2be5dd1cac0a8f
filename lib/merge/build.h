/* build.h: the image, of what the merge has found. */
#ifndef MINILINK_MERGE_BUILD_H
#define MINILINK_MERGE_BUILD_H

#include "merge/merging.h"

/* Fills m->image and lays it out. Comes last: all contents are there. */
void build_image(struct merging *m);

#endif
