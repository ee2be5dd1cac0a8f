/* place.h: which file a path is, whatever it is called. */
#ifndef MINILINK_BASE_PLACE_H
#define MINILINK_BASE_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

/* A regular file or a folder, by its number on its device. */
struct place {
    dev_t device;
    ino_t inode;
    bool is_known; /* false for what may be opened twice without harm: pipes, terminals */
};

static inline struct place place_of(const struct stat *status)
{
    return (struct place){status->st_dev, status->st_ino,
                          S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)};
}

static inline bool place_equal(struct place a, struct place b)
{
    return a.is_known && b.is_known && a.device == b.device && a.inode == b.inode;
}

#endif
