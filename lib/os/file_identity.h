/* file_identity.h: which file a path is, whatever it is called. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

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
