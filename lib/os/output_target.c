/* output_target.c: one readlink after the other, until there is a file or a link of /proc. */
#include "os/output_target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Linux's own limit. */
#define MOST_LINKS 40

/* A descriptor that replaces one of the standard three would be taken for it. */
#define ABOVE_STANDARD 3

static void output_folder_of(const char *path, char folder[PATH_MAX])
{
    size_t size = (size_t)(basename(path) - path);

    memcpy(folder, path, size);
    snprintf(folder + size, PATH_MAX - size, ".");
}

/* The number of the descriptor of this process that `name` in `folder` stands for; -1 = none. */
static int own_descriptor(const char *folder, const char *name)
{
    static const char *const folders[] = {"/proc/self/fd", "/proc/thread-self/fd"};
    char real[PATH_MAX], own[PATH_MAX];
    unsigned long number;
    char *end;

    if (!realpath(folder, real))
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!realpath(folders[i], own) || strcmp(real, own) != 0)
            continue;
        number = strtoul(name, &end, 10);
        return *name && !*end && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

/* A link of /proc is never replaced. */
static bool take_open_file(struct output_target *destination, const char *folder)
{
    struct stat status;

    destination->kind = OUTPUT_TARGET_IN_PLACE;
    destination->descriptor = own_descriptor(folder, basename(destination->path));
    if (destination->descriptor >= 0)
        destination->kind = OUTPUT_TARGET_DESCRIPTOR;
    else if (stat(destination->path, &status))
        return false;
    return true;
}

static bool follow_links(struct output_target *destination)
{
    char target[PATH_MAX];
    ssize_t size = readlink(destination->path, target, sizeof target);
    size_t kept = (size_t)(basename(destination->path) - destination->path);

    if (size < 0)
        return false;
    if (size > 0 && target[0] == '/')
        kept = 0;
    if (size == 0 || kept + (size_t)size >= sizeof destination->path) {
        errno = size ? ENAMETOOLONG : ENOENT;
        return false;
    }
    memcpy(destination->path + kept, target, (size_t)size);
    destination->path[kept + (size_t)size] = '\0';
    return true;
}

/* For a path that is no symbolic link. */
static bool take_file(struct output_target *destination, const struct stat *status)
{
    if (S_ISDIR(status->st_mode)) {
        errno = EISDIR;
        return false;
    }
    destination->kind = S_ISREG(status->st_mode) ? OUTPUT_TARGET_FILE : OUTPUT_TARGET_IN_PLACE;
    return true;
}

bool output_target_find(struct output_target *destination, const char *path)
{
    size_t size = strlen(path);

    *destination = (struct output_target){.kind = OUTPUT_TARGET_DESCRIPTOR, .descriptor = 1};
    if (strcmp(path, "-") == 0)
        return true;
    destination->descriptor = -1;
    if (size == 0 || size >= sizeof destination->path) {
        errno = size ? ENAMETOOLONG : ENOENT;
        return false;
    }
    memcpy(destination->path, path, size + 1);
    for (int links = 0; links <= MOST_LINKS; links++) {
        char folder[PATH_MAX];
        struct statfs system;
        struct stat status;

        if (lstat(destination->path, &status)) {
            destination->kind = OUTPUT_TARGET_FILE;
            return errno == ENOENT;
        }
        if (!S_ISLNK(status.st_mode))
            return take_file(destination, &status);
        output_folder_of(destination->path, folder);
        if (statfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
            return take_open_file(destination, folder);
        if (!follow_links(destination))
            return false;
    }
    errno = ELOOP;
    return false;
}

int output_target_open(const struct output_target *destination, int flags)
{
    if (destination->kind == OUTPUT_TARGET_DESCRIPTOR)
        return fcntl(destination->descriptor, F_DUPFD_CLOEXEC, ABOVE_STANDARD);
    return open(destination->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
}
