/* file.h: identity and version of a file by stat(2): whether two paths are the same file, and
 * whether a file has changed since.
 *
 * Linux sets a file's ctime at every write, change of mode and rename, and nobody can set it back;
 * but its clock advances in ticks (1 to 10 ms), and some file systems keep whole seconds. A file
 * that was written to within the last tick may be written to again without a change of its times.
 * Two seconds later every write changes the times, and they are enough (the version is settled);
 * before that the contents must be compared, too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

/* A regular file or a folder, by its number on its device. */
struct file_identity {
    dev_t device;
    ino_t inode;
    bool is_known; /* false for what may be opened twice without harm: pipes, terminals */
};

static inline struct file_identity file_identity_of(const struct stat *status)
{
    return (struct file_identity){status->st_dev, status->st_ino,
                                  S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)};
}

static inline bool file_identity_equal(struct file_identity a, struct file_identity b)
{
    return a.is_known && b.is_known && a.device == b.device && a.inode == b.inode;
}

struct file_version {
    dev_t device;
    ino_t inode;
    uint64_t size;                    /* in bytes */
    struct timespec written, changed; /* mtime and ctime */
};

struct file_version file_version_of(const struct stat *status);

/* Whether any later write changes the version. Reads the clock. */
bool file_version_is_settled(const struct file_version *version);

/* Waits while another process writes to the open file, until that closes it or pauses for some
 * time: data read meanwhile belongs to no version. *status is the file's; it is updated. Does not
 * wait where the system does not report writers (another user's files, a network's). */
void file_version_wait_for_writer(int fd, struct stat *status);

/* NULL when `path` is unchanged, else how it has changed ("it was written to"). Async-signal-safe.
 */
const char *file_version_change(const struct file_version *version, const char *path);
