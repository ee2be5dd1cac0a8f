/* unified.c: of an index, that it is an ELF file; of a program, that it has no unified symbols. */
#include "merge/unified.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

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

static bool has_unified(const struct cubin *cubin)
{
    for (size_t i = 1; i < cubin->section_count; i++)
        if (cubin->sections[i].type == SHT_CUDA_UFT_ENTRY ||
            cubin->sections[i].type == SHT_CUDA_UDT_ENTRY)
            return true;
    return false;
}

bool unified_check(const struct merging *m)
{
    for (size_t file = 0; file < m->count && !m->request->relocatable; file++) {
        if (!has_unified(m->cubins[file]))
            continue;
        if (m->request->has_index)
            diag_fatal("Unified symbols found in '%s': minilink cannot read index files",
                       m->cubins[file]->name);
        else
            diag_fatal("Unified symbols found but index file not specified.");
        return false;
    }
    return true;
}
