/* reproduce.h: a tar file with everything that a link reads, to repeat it elsewhere.
 *
 * NAME.tar has a folder NAME with the inputs; response.txt, with the options and the inputs' names
 * in that folder; and version.txt, with the versions of the linker and its tools. `minilink
 * @response.txt` in the folder repeats the link, like the same toolkit's nvlink. It is written as
 * soon as the inputs are open, so that later failures can be reproduced too. */
#pragma once

#include "link/link.h"

/* Writes the file that the request names; true without one. Files that the request's words name are
 * added to the tar and named by their place there; members of thin archives are added at their
 * places too. False, and a fatal diagnostic, when it cannot be written. */
bool reproduce_write(const struct link_request *request, const struct toolkit_facts *toolkit,
                     const struct inputs *inputs);
