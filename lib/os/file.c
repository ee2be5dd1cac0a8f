/* file.c: loops around read() and write(), mappings of whole files, output of children; stat(2)
 * then and now; and links, one readlink after the other. */
#include "os/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Coarser than any kernel's clock (CONFIG_HZ >= 100) and any file system's (FAT: even seconds). */
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
 * opens it for writing meanwhile waits for its release; the signal of that is ignored. */
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

bool descriptor_write(int fd, const void *data, size_t size)
{
    const char *from = data;

    while (size > 0) {
        ssize_t written = write(fd, from, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        size -= (size_t)written;
    }
    return true;
}

bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    struct iovec whole = {(void *)(uintptr_t)data, size};

    return descriptor_write_vectors(fd, &whole, size > 0, offset);
}

bool descriptor_write_vectors(int fd, struct iovec *vectors, int count, uint64_t offset)
{
    while (count > 0) {
        ssize_t written = pwritev(fd, vectors, count, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        offset += (uint64_t)written;
        for (; count > 0 && (size_t)written >= vectors->iov_len; vectors++, count--)
            written -= (ssize_t)vectors->iov_len;
        if (count > 0)
            *vectors = (struct iovec){(char *)vectors->iov_base + written,
                                      vectors->iov_len - (size_t)written};
    }
    return true;
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

bool file_map(struct bytes *bytes, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
    bool is_mapped = fd >= 0 && descriptor_map(fd, bytes);

    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return is_mapped;
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
    bool is_open = pipe2(fds, O_CLOEXEC) == 0 && descriptor_pair_above_standard(fds);

    if (is_open && fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    for (int i = 0; i < 2; i++) {
        if (is_open)
            close(fds[i]);
        fds[i] = -1;
    }
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
