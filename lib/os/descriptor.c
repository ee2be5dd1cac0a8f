/* descriptor.c: loops around read() and write(), mappings of whole files, and output of children.
 */
#include "os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

bool capture_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) || !descriptor_pair_above_standard(fds))
        return false;
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    close(fds[0]);
    close(fds[1]);
    return false;
}

/* If memory runs out here, the output is only truncated. */
static void keep_tail(struct capture *capture, const char *data, size_t size)
{
    size_t room = capture->limit - capture->size;

    if (size > room) {
        capture->cut = true;
        size = room;
    }
    if (capture->capacity - capture->size <= size) {
        size_t capacity = (capture->size + size) * 2 + 1;
        char *grown = realloc(capture->data, capacity);

        if (!grown) {
            capture->cut = true;
            return;
        }
        capture->data = grown;
        capture->capacity = capacity;
    }
    memcpy(capture->data + capture->size, data, size);
    capture->size += size;
    capture->data[capture->size] = '\0';
}

bool capture_read(struct capture *capture, int fd)
{
    char block[4096];

    for (;;) {
        ssize_t got = read(fd, block, sizeof block);

        if (got > 0)
            keep_tail(capture, block, (size_t)got);
        else if (got == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
        else if (errno == EAGAIN)
            return true;
    }
}
