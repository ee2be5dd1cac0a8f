/* file.h: open files, the identity and version of files, names of outputs, and private folders. */
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "base/text.h"

/* Descriptors. Functions that read or write go on until all is done, and are async-signal-safe. */

/* Writes all `size` bytes at the descriptor's position. False, with errno set, when not all could
 * be written; how much was written is not known then. */
bool descriptor_write(int fd, const void *data, size_t size);

/* The same from byte `offset` of a regular file on; the descriptor's position does not change. */
bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset);

/* The same of `count` pieces, none of them empty, which this changes. */
bool descriptor_write_vectors(int fd, struct iovec *vectors, int count, uint64_t offset);

/* Reads `size` bytes from byte `offset` of the file on. False with errno 0 when the file is
 * shorter, or with errno set when it cannot be read. */
bool descriptor_read(int fd, void *data, size_t size, uint64_t offset);

/* Maps a whole regular file for reading; for an empty one bytes->data is NULL. False, with errno
 * set and *bytes {0}. A process that truncates the file while it is used ends this one. */
bool descriptor_map(int fd, struct bytes *bytes);

/* The same with the file of that name, which may be closed meanwhile. */
bool file_map(struct bytes *bytes, const char *path);

/* Ends the mapping. `bytes` is a struct bytes, which may be {0}; for CONTEXT_DEFER, too. */
void descriptor_unmap(void *bytes);

/* A caller of the library may have closed the standard descriptors; a file opened then would take
 * one of their numbers, and be replaced in a child. Moves both ends of a pipe or a socket above
 * them, closed on exec. False when one cannot be moved; both are closed then. */
bool descriptor_pair_above_standard(int fds[2]);

/* Moves a descriptor to a number that is at least `least`, closed on exec. False, with errno set,
 * when that is not possible; *fd is unchanged then. */
bool descriptor_move_up(int *fd, int least);

/* An anonymous file in memory, named `name` for debugging, closed on exec and not one of the
 * standard descriptors. -1 and errno when it cannot be made. */
int descriptor_memory_file(const char *name);

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

/* Whether a file has changed, by stat(2).
 *
 * Linux sets a file's ctime at every write, change of mode and rename, and nobody can set it back;
 * but its clock advances in ticks (1 to 10 ms), and some file systems keep whole seconds. A file
 * that was written to within the last tick may be written to again without a change of its times.
 * Two seconds later every write changes the times (the version is settled); a file that is younger
 * is read into memory, where another write does not reach it. */
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

/* NULL when `path` is unchanged, else how it has ("it was written to"). Async-signal-safe. */
const char *file_version_change(const struct file_version *version, const char *path);

/* What the name of an output leads to.
 *
 * Symbolic links are followed one by one, since some must not be: a link in /proc (/proc/self/fd/1,
 * and so /dev/stdout) leads to an open file, whatever name it shows. */
enum output_target_kind {
    OUTPUT_TARGET_FILE,       /* a regular file, or none yet: `path` is to be replaced */
    OUTPUT_TARGET_IN_PLACE,   /* a pipe, a device, another process's open file: `path` is opened */
    OUTPUT_TARGET_DESCRIPTOR, /* an open file of this process: number `descriptor` */
};

struct output_target {
    enum output_target_kind kind;
    int descriptor;
    char path[PATH_MAX]; /* after all links */
};

/* Finds what `path` leads to; "-" is standard output. False, with errno set, for a folder, a loop
 * of links, and a path that cannot be examined. */
bool output_target_find(struct output_target *destination, const char *path);

/* Opens it for writing, with close-on-exec and `flags`, or duplicates the descriptor, which keeps
 * its file position and mode. -1, with errno set, on failure. */
int output_target_open(const struct output_target *destination, int flags);

/* A private folder for the files that only children of the link read and write, which other users
 * cannot read (mode 0700). Start with {0}. */
struct folder {
    char *path; /* malloc'ed, without a slash at its end; NULL = none */
    int slot;   /* of leftover_note() */
};

/* Makes a new folder next to the output `beside`, where children on other machines may see it; in
 * TMPDIR, or else /tmp, if the output is no file, `beside` is NULL, or that fails. False, with
 * errno set, when all fail. */
bool folder_make(struct folder *folder, const char *beside);

/* Removes the folder with everything in it. Safe on {0}. For CONTEXT_DEFER, too. */
void folder_remove(void *folder);

/* Notes a file, or a folder with everything in it, that is to be removed if a signal ends the
 * program. The link thread blocks signals from before it is made until it is noted; other threads
 * note it before they make it. The path stays until the link thread frees it. Returns the slot for
 * leftover_forget(), or -1, which that accepts, when the table is full, or the program ends. */
int leftover_note(char *path);
void leftover_forget(int slot);

/* Removes all that is noted. Async-signal-safe. */
void leftover_remove_all(void);
