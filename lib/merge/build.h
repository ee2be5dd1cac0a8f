/* build.h: the merge's last step: merged sections and tables become the image, which can be
 * written. */
#pragma once

#include "merge/merging.h"

/* Puts the names of the sections into m->strings and says where they are. Touches nothing else. */
void build_name_sections(struct merging *m);

/* Fills m->image and lays it out. Comes last: all contents are there. */
void build_image(struct merging *m);
