/* output.c: temporary, fsync, rename; and a table of temporaries that a signal handler can walk. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/memory.h"

/* A link has one output open at a time, and perhaps one more for a kept file. */
#define SLOTS 8

/* The names that a signal handler unlinks: fixed storage, since a handler may not touch the heap.
 */
static _Atomic(char *) temporaries[SLOTS];

static int remember(char *temporary)
{
    for (int i = 0; i < SLOTS; i++) {
        char *expected = NULL;

        if (atomic_compare_exchange_strong(&temporaries[i], &expected, temporary))
            return i;
    }
    return -1;
}

void output_remove_temporaries(void)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *temporary = atomic_load(&temporaries[i]);

        if (temporary)
            unlink(temporary);
    }
}

/* True for a target that must be written in place. */
static bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool open_failed(struct output *output)
{
    const char *path = output->path;
    int error = errno;

    /* Before the message, which may find no memory and not return. */
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
    diag_fatal("Could not open output file '%s': %s", path, strerror(error));
    return false;
}

/* Makes the temporary and notes its name, with signals blocked: a handler that ran between the two
 * would leave the file behind. */
static bool open_temporary(struct output *output)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    error = errno;
    if (output->fd >= 0)
        output->slot = remember(output->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return output->fd >= 0;
}

bool output_open(struct output *output, const char *path)
{
    struct stat status;
    size_t length = strlen(path);

    *output = (struct output){.path = path, .fd = -1, .slot = -1};
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return open_failed(output);
    }
    if (is_special(path)) {
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
        return output->fd >= 0 || open_failed(output);
    }
    output->temporary = memory_alloc(length + sizeof ".XXXXXX", 1);
    memcpy(output->temporary, path, length);
    memcpy(output->temporary + length, ".XXXXXX", sizeof ".XXXXXX");
    return open_temporary(output) || open_failed(output);
}

static mode_t final_mode(bool executable)
{
    mode_t mask = umask(0);

    umask(mask);
    return (executable ? 0777 : 0666) & ~mask;
}

static bool write_failed(struct output *output, int error)
{
    const char *path = output->path;

    output_abort(output); /* before the message, which may not return */
    diag_fatal("Could not write output file '%s': %s", path, strerror(error));
    return false;
}

bool output_commit(struct output *output, bool executable)
{
    int failed = 0;

    if (output->temporary) {
        if (fchmod(output->fd, final_mode(executable)) || fsync(output->fd))
            failed = errno;
    }
    if (close(output->fd) && !failed)
        failed = errno;
    output->fd = -1;
    if (!failed && output->temporary && rename(output->temporary, output->path))
        failed = errno;
    if (failed)
        return write_failed(output, failed);
    if (output->slot >= 0)
        atomic_store(&temporaries[output->slot], NULL);
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
    return true;
}

void output_abort(struct output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    if (output->temporary && output->slot >= 0)
        atomic_store(&temporaries[output->slot], NULL);
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
}

bool output_append(struct output *output, struct bytes bytes)
{
    while (bytes.size > 0) {
        ssize_t written = write(output->fd, bytes.data, bytes.size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return write_failed(output, errno);
        bytes.data += written;
        bytes.size -= (size_t)written;
    }
    return true;
}

bool output_write_file(const char *path, struct bytes bytes, bool executable)
{
    struct output output;

    return output_open(&output, path) && output_append(&output, bytes) &&
           output_commit(&output, executable);
}
