/* overwrite_check.h: checks that a link overwrites no file that it reads or writes. */
#pragma once

#include "input/file.h"
#include "link/link.h"

/* False, reported, when a path of the request occurs twice, under whatever names and through
 * whatever links, and is written at least once. Written are -o, -register-link-binaries,
 * --dependency-file, --reproduce, --emit-plan, reports (-time, --time-trace, --report, --map), the
 * files that --keep makes, and the file that standard output leads to, if something is printed.
 * Read are the inputs, including libraries and members of thin archives, response files, -uidx's
 * file, the programs and libraries that options name, and this program. Files that are not regular,
 * like /dev/null, are ignored. */
bool overwrite_check(const struct link_request *request, const struct inputs *inputs);

/* The same for an output of the option whose name is known only now. */
bool overwrite_check_late(const char *option, const char *path, const struct link_request *request,
                          const struct inputs *inputs);
