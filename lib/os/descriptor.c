/* descriptor.c: loops around read() and write(), and mappings of whole files. */
#include "os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes at *offset, which advances, or at the descriptor's position. */
static bool write_all(int fd, const char *from, size_t size, uint64_t *offset)
{
    while (size > 0) {
        ssize_t written = offset ? pwrite(fd, from, size, (off_t)*offset) : write(fd, from, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        size -= (size_t)written;
        if (offset)
            *offset += (uint64_t)written;
    }
    return true;
}

bool descriptor_write(int fd, const void *data, size_t size)
{
    return write_all(fd, data, size, NULL);
}

bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    return write_all(fd, data, size, &offset);
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

bool descriptor_map(int fd, struct bytes *bytes)
{
    struct stat status;
    void *start;

    *bytes = (struct bytes){0};
    if (fstat(fd, &status))
        return false;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return false;
    }
    if (status.st_size == 0)
        return true;
    start = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (start == MAP_FAILED)
        return false;
    *bytes = (struct bytes){start, (size_t)status.st_size};
    return true;
}

void descriptor_unmap(void *argument)
{
    const struct bytes *bytes = argument;

    if (bytes->size)
        munmap((void *)(uintptr_t)bytes->data, bytes->size);
}

/* Descriptors of standard input, output and error. */
#define STANDARD 3

bool descriptor_move_up(int *fd, int least)
{
    int moved;

    if (*fd >= least)
        return true;
    moved = fcntl(*fd, F_DUPFD_CLOEXEC, least);
    if (moved < 0)
        return false;
    close(*fd);
    *fd = moved;
    return true;
}

/* `fd` itself, or what replaces it; -1 with errno when there is none, or `fd` is negative. */
static int above_standard(int fd)
{
    int saved;

    if (fd < 0 || descriptor_move_up(&fd, STANDARD))
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

bool descriptor_pair_above_standard(int fds[2])
{
    fds[0] = above_standard(fds[0]);
    fds[1] = above_standard(fds[1]);
    if (fds[0] >= 0 && fds[1] >= 0)
        return true;
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return false;
}

int descriptor_memory_file(const char *name)
{
    return above_standard(memfd_create(name, MFD_CLOEXEC));
}
