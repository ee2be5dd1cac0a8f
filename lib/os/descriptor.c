/* descriptor.c: the loops. */
#include "os/descriptor.h"

#include <errno.h>
#include <unistd.h>

bool descriptor_write(int fd, const void *data, size_t size)
{
    const char *from = data;

    while (size > 0) {
        ssize_t written = write(fd, from, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        size -= (size_t)written;
    }
    return true;
}

bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    const char *from = data;

    while (size > 0) {
        ssize_t written = pwrite(fd, from, size, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return true;
}

bool descriptor_read(int fd, void *data, size_t size, uint64_t offset)
{
    char *to = data;

    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : 0;
            return false;
        }
        to += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}
