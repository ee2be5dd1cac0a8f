/* unified.c: of an index, that it is an ELF file; of a program, that it has no unified symbols. */
#include "merge/unified.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diag/diag.h"
#include "merge/merging_inputs.h"

/* The file's first bytes; how many, or -1. A pipe that nobody writes to does not hold the link up.
 */
static ssize_t read_start(int fd, char *start, size_t size)
{
    ssize_t got;

    do {
        got = read(fd, start, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

bool unified_check_index(const char *path)
{
    char start[SELFMAG];
    ssize_t got;
    int fd;

    if (!path)
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        diag_fatal("Could not open input file '%s': %s", path, strerror(errno));
        return false;
    }
    got = read_start(fd, start, sizeof start);
    close(fd);
    if (got <= 0)
        diag_fatal("Could not read file '%s'", path);
    else if (got < SELFMAG || memcmp(start, ELFMAG, SELFMAG) != 0)
        diag_fatal("'%s' is not uidx input", path);
    else
        return true;
    return false;
}

bool unified_check(const struct merging *m)
{
    struct merging_walk at = {0};

    if (m->request->relocatable || !merging_next_of(m, &at, INPUT_UNIFIED))
        return true;
    if (m->request->has_index)
        diag_fatal("Unified symbols found in '%s': minilink cannot read index files",
                   m->cubins[at.file]->name);
    else
        diag_fatal("Unified symbols found but index file not specified.");
    return false;
}
