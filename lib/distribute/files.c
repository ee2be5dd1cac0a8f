/* files.c: reads and writes whole files. */
#include "distribute/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool meets_demand(int fd, const struct stat *status, const struct file_demand *demand)
{
    uint8_t head[FILES_HEAD];

    if (!S_ISREG(status->st_mode)) {
        errno = S_ISDIR(status->st_mode) ? EISDIR : EINVAL;
        return false;
    }
    if ((uintmax_t)status->st_size > demand->limit) {
        errno = EFBIG;
        return false;
    }
    if (!demand->begins || status->st_size < (off_t)sizeof head)
        return true;
    if (!descriptor_read(fd, head, sizeof head, 0))
        return false;
    errno = ENOEXEC;
    return demand->begins((struct bytes){head, sizeof head}, (uint64_t)status->st_size);
}

static bool read_open(int fd, struct file_contents *contents, const struct file_demand *demand)
{
    struct stat status;

    if (fstat(fd, &status))
        return false;
    if (S_ISREG(status.st_mode))
        file_version_wait_for_writer(fd, &status);
    if (!meets_demand(fd, &status, demand))
        return false;
    contents->version = file_version_of(&status);
    contents->size = (size_t)status.st_size;
    contents->data = malloc(contents->size + 1);
    if (!contents->data) {
        errno = ENOMEM;
        return false;
    }
    contents->data[contents->size] = '\0';
    errno = 0;
    if (descriptor_read(fd, contents->data, contents->size, 0))
        return true;
    errno = errno ? errno : EIO; /* the file was truncated */
    free(contents->data);
    *contents = (struct file_contents){0};
    return false;
}

const char *files_why(void)
{
    return errno == EINVAL ? "It is not a regular file" : strerror(errno);
}

bool files_read_as(struct file_contents *contents, const char *path,
                   const struct file_demand *demand)
{
    /* Opening a pipe must not block until there is a writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (demand->is_own ? O_NOFOLLOW : 0));
    int error;
    bool ok;

    *contents = (struct file_contents){0};
    if (fd < 0)
        return false;
    ok = read_open(fd, contents, demand);
    error = errno;
    close(fd);
    errno = error;
    if (!ok && error == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    return ok;
}

bool files_read(struct file_contents *contents, const char *path, size_t limit)
{
    return files_read_as(contents, path, &(struct file_demand){.limit = limit});
}

void files_watch(const struct file_contents *contents, struct watch *watch, const char *path)
{
    watch_add(watch, path, &contents->version);
}

void files_cleanup(void *contents)
{
    free(((struct file_contents *)contents)->data);
}

bool files_hold(const char *path, struct bytes bytes)
{
    struct file_contents there;
    bool same = files_read(&there, path, bytes.size) && there.size == bytes.size &&
                (bytes.size == 0 || memcmp(there.data, bytes.data, bytes.size) == 0);

    free(there.data);
    return same;
}

bool files_write(const char *path, struct bytes bytes)
{
    int fd, error = 0;

    if (files_hold(path, bytes))
        return true;
    unlink(path); /* readers of the old file, or of a link to it, are not affected */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    if (!descriptor_write(fd, bytes.data, bytes.size))
        error = errno ? errno : ENOSPC;
    if (close(fd) && !error)
        error = errno;
    if (error)
        unlink(path);
    errno = error;
    return error == 0;
}
