/* file.c: compares stat(2) then and now. */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* Coarser than the clock of any kernel (CONFIG_HZ is 100 at least) and than the timestamps of any
 * file system: FAT's are even seconds. */
#define SETTLED_NANOSECONDS 2000000000

/* A process that has a file open but has not written to it for so long is no writer: programs keep
 * temporary files open while they run others on them. The whole wait is limited, too. */
#define PAUSE_NANOSECONDS    50000000
#define LONGEST_MILLISECONDS 1000

struct file_version file_version_of(const struct stat *status)
{
    return (struct file_version){.device = status->st_dev,
                                 .inode = status->st_ino,
                                 .size = (uint64_t)status->st_size,
                                 .written = status->st_mtim,
                                 .changed = status->st_ctim};
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* A time in the future is not settled, either: clocks are set, and file servers have their own. */
bool file_version_is_settled(const struct file_version *version)
{
    struct timespec now;
    int64_t bound;

    if (clock_gettime(CLOCK_REALTIME, &now))
        return false;
    bound = nanoseconds(now) - SETTLED_NANOSECONDS;
    return nanoseconds(version->written) < bound && nanoseconds(version->changed) < bound;
}

/* The kernel grants no read lease for a file that is open, or mapped, for writing. A process that
 * opens it for writing meanwhile waits until the lease is released; the signal that announces it is
 * one that is ignored by default. */
static bool is_open_for_writing(int fd)
{
    if (fcntl(fd, F_SETSIG, SIGURG) || fcntl(fd, F_SETLEASE, F_RDLCK))
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static bool was_written_just_now(const struct stat *status)
{
    struct timespec now;
    int64_t age;

    if (clock_gettime(CLOCK_REALTIME, &now))
        return false;
    age = nanoseconds(now) - nanoseconds(status->st_ctim);
    return age >= 0 && age < PAUSE_NANOSECONDS;
}

void file_version_wait_for_writer(int fd, struct stat *status)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};

    for (int i = 0; i < LONGEST_MILLISECONDS; i++) {
        if (!was_written_just_now(status) || !is_open_for_writing(fd))
            return;
        nanosleep(&millisecond, NULL);
        if (fstat(fd, status))
            return;
    }
}

const char *file_version_change(const struct file_version *version, const char *path)
{
    struct file_version now;
    struct stat status;

    if (stat(path, &status))
        return "it is no longer there";
    now = file_version_of(&status);
    if (now.device != version->device || now.inode != version->inode)
        return "another file has taken its place";
    if (now.size < version->size)
        return "it became shorter";
    if (now.size > version->size)
        return "it became longer";
    if (nanoseconds(now.written) != nanoseconds(version->written) ||
        nanoseconds(now.changed) != nanoseconds(version->changed))
        return "it was written to, or its mode or links were changed";
    return NULL;
}
