/* reproduce.h: a tar file with all that a link reads, to run it again elsewhere.
 *
 * NAME.tar holds a folder NAME with the inputs, with response.txt, the options and the inputs'
 * names in that folder, and with version.txt, which says what linked. `minilink @response.txt` in
 * the folder is the link again. It is written when the inputs are open, so that what fails later
 * can be reproduced, too. */
#pragma once

#include "link/link.h"

/* Writes the file that the request names; true without one. What the request's words name as paths
 * is added to the tar, and named by its place there; members of thin archives are in theirs.
 * False, and a fatal diagnostic, when it cannot be written. */
bool reproduce_write(const struct link_request *request, const struct inputs *inputs);
