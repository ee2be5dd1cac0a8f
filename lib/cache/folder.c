/* folder.c: cache contents end up in a program that somebody runs, so data that others could have
 * written is not used. Mode and owner are checked on the open folder, not on its path; an access
 * list that lets others write shows in the group's bits. */
#include "cache/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool folder_is_trusted(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the parent folders of `path`, as mkdir -p does, and `path` itself for the user alone. */
static bool make_folders(const char *path)
{
    char parent[PATH_MAX];
    size_t size = strlen(path);

    if (size >= sizeof parent) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(parent, path, size + 1);
    while (size > 1 && parent[size - 1] == '/')
        parent[--size] = '\0';
    for (size_t i = 1; i < size; i++) {
        if (parent[i] != '/')
            continue;
        parent[i] = '\0';
        if (mkdir(parent, 0777) && errno != EEXIST)
            return false;
        parent[i] = '/';
    }
    return mkdir(parent, 0700) == 0 || errno == EEXIST;
}

static int refuse_folder(int folder, const struct stat *status, char reason[FOLDER_REASON_SIZE])
{
    if (status->st_uid != geteuid())
        snprintf(reason, FOLDER_REASON_SIZE,
                 "it belongs to user %u, and must belong to user %u, who runs this link",
                 (unsigned)status->st_uid, (unsigned)geteuid());
    else
        snprintf(reason, FOLDER_REASON_SIZE,
                 "others may write to it (mode %04o); chmod go-w makes it the user's alone",
                 (unsigned)status->st_mode & 07777u);
    close(folder);
    return -1;
}

int folder_open(const char *path, char reason[FOLDER_REASON_SIZE])
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0 && errno == ENOENT && make_folders(path))
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fstat(folder, &status)) {
        snprintf(reason, FOLDER_REASON_SIZE, "%s", strerror(errno));
        if (folder >= 0)
            close(folder);
        return -1;
    }
    return folder_is_trusted(&status) ? folder : refuse_folder(folder, &status, reason);
}

/* No other user can replace the subfolder once it has been checked: nobody else may write to the
 * folder. */
bool folder_has_shelf(int folder, const char *entry, bool make)
{
    const char shelf[] = {entry[0], entry[1], '\0'};
    struct stat status;

    if (make && mkdirat(folder, shelf, 0700) && errno != EEXIST)
        return false;
    if (fstatat(folder, shelf, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    if (S_ISDIR(status.st_mode) && folder_is_trusted(&status))
        return true;
    errno = S_ISDIR(status.st_mode) ? EPERM : ENOTDIR;
    return false;
}

void folder_entry(const struct cache_key *key, char entry[ENTRY_NAME_SIZE])
{
    for (size_t i = 0; i < CACHE_KEY_SIZE; i++)
        entry += sprintf(entry, i == 0 ? "%02x/" : "%02x", key->bytes[i]);
}
