/* capture.c: reads what a child prints into a buffer that grows up to its limit. */
#include "os/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/descriptor.h"

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
