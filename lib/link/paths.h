/* paths.h: nothing that a link reads or writes may be overwritten by something that it writes. */
#ifndef MINILINK_LINK_PATHS_H
#define MINILINK_LINK_PATHS_H

#include "input/file.h"
#include "link/link.h"

/* False, reported, when a path of the request is there twice, under whatever names and through
 * whatever links, and is written at least once: -o, -register-link-binaries, --dependency-file,
 * --reproduce,  * what is told of the link (-time, --time-trace, --report, --map), the files that
 * --keep makes, the inputs, -uidx's file. What is no regular file, like /dev/null, does not
 * count. */
bool paths_check(const struct link_request *request, const struct inputs *inputs);

/* The same for one output of the option, whose name is known only now. */
bool paths_check_late(const char *option, const char *path, const struct inputs *inputs);

#endif
