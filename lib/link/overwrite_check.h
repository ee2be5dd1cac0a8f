/* overwrite_check.h: nothing that a link reads or writes may be overwritten by something that it
 * writes. */
#pragma once

#include "input/file.h"
#include "link/link.h"

/* False, reported, when a path of the request is there twice, under whatever names and through
 * whatever links, and is written at least once. Written are -o, -register-link-binaries,
 * --dependency-file, --reproduce, --emit-plan, what is told of the link (-time, --time-trace,
 * --report, --map), the files that --keep makes, and what the standard output leads to, where
 * something is printed. Read are the inputs, libraries and members of thin archives among them,
 * response files, -uidx's file, the programs and libraries that options name, and this program.
 * What is no regular file, like /dev/null, does not count. */
bool overwrite_check(const struct link_request *request, const struct inputs *inputs);

/* The same for one output of the option, whose name is known only now. */
bool overwrite_check_late(const char *option, const char *path, const struct link_request *request,
                          const struct inputs *inputs);
