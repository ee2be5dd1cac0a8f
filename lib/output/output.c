/* output.c: a temporary file, which is renamed, and standard streams without losing errors. */
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "diag/diag.h"
#include "os/file.h"
#include "os/thread.h"

/* The suffix for a number, and how much of the target's name stays before it. */
static const char suffix[] = ".XXXXXX";
#define MOST_KEPT 64u

/* Others may have temporaries of the same names. */
#define MOST_TRIES 1000

/* Some file systems, such as ext4, write a file to the disk before they rename it onto another one:
 * that is noticeable from this size on (measured: 15 ms for 20 MB). */
#define EXCHANGED (1u << 20)

static bool open_failed(struct output *output)
{
    const char *path = output->path;
    int error = errno;

    /* Before the message, which may find no memory and not return. */
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
    return diag_fatal("Could not open output file '%s': %s", path, strerror(error));
}

/* Creates the temporary and notes its name, with signals blocked: a handler that ran between the
 * two would leave the file behind. Its mode is 0666 less the umask from the start. */
static bool open_temporary(struct output *output)
{
    static atomic_uint next;
    char *number = output->target - sizeof suffix + 1;
    sigset_t before = thread_block_signals();
    int error = EEXIST;

    for (int tries = 0; output->fd < 0 && error == EEXIST && tries < MOST_TRIES; tries++) {
        snprintf(number, sizeof suffix - 1, "%06x",
                 ((unsigned)getpid() * 64 + atomic_fetch_add(&next, 1)) & 0xffffff);
        output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
    }
    if (output->fd >= 0)
        output->slot = leftover_note(output->temporary);
    thread_restore_signals(before);
    errno = error;
    return output->fd >= 0;
}

/* The names of the target and of a temporary beside it, in one block. A long name is cut, since
 * file systems limit the length of the temporary's name. */
static void name_temporary(struct output *output, const char *target)
{
    size_t size = strlen(target);
    const char *slash = strrchr(target, '/');
    size_t folder = slash ? (size_t)(slash + 1 - target) : 0;
    size_t kept = size - folder > MOST_KEPT ? folder + MOST_KEPT : size;

    output->temporary = memory_alloc(kept + sizeof suffix + size + 1, 1);
    memcpy(output->temporary, target, kept);
    memcpy(output->temporary + kept, suffix, sizeof suffix);
    output->target = output->temporary + kept + sizeof suffix;
    memcpy(output->target, target, size + 1);
}

bool output_open(struct output *output, const char *path)
{
    struct output_target destination;

    *output = (struct output){.path = path, .fd = -1, .slot = -1};
    if (!output_target_find(&destination, path))
        return open_failed(output);
    if (destination.kind != OUTPUT_TARGET_FILE) {
        output->fd = output_target_open(&destination, O_TRUNC);
        return output->fd >= 0 || open_failed(output);
    }
    name_temporary(output, destination.path);
    return open_temporary(output) || open_failed(output);
}

bool output_fail(struct output *output, int error)
{
    const char *path = output->path;

    output_abort(output); /* before the message, which may not return */
    return diag_fatal("Could not write output file '%s': %s", path, strerror(error));
}

/* Renames the temporary to the target. A large file is exchanged with the old one, which does not
 * wait for the disk, and the old one is unlinked: a reader sees one or the other at any time. */
static bool replace_target(const struct output *output)
{
    const char *temporary = output->temporary;
    int error;

    if (output->size < EXCHANGED ||
        renameat2(AT_FDCWD, temporary, AT_FDCWD, output->target, RENAME_EXCHANGE))
        return rename(temporary, output->target) == 0;
    if (unlink(temporary) == 0)
        return true;
    /* The target has become a folder meanwhile, which cannot be unlinked: undo the exchange. */
    error = errno;
    renameat2(AT_FDCWD, temporary, AT_FDCWD, output->target, RENAME_EXCHANGE);
    errno = error;
    return false;
}

/* There is no fsync: a link's output can be made again. */
bool output_finish(struct output *output)
{
    int failed = 0;

    if (output->fd < 0)
        return true;
    if (close(output->fd))
        failed = errno;
    output->fd = -1;
    return !failed || output_fail(output, failed);
}

bool output_commit(struct output *output)
{
    if (!output_finish(output))
        return false;
    if (output->temporary && !replace_target(output))
        return output_fail(output, errno);
    leftover_forget(output->slot);
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
    return true;
}

void output_abort(struct output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    if (output->temporary) {
        unlink(output->temporary);
        leftover_forget(output->slot);
    }
    free(output->temporary);
    *output = (struct output){.fd = -1, .slot = -1};
}

bool output_open_memory(struct output *output, struct buffer *memory)
{
    *output = (struct output){.memory = memory, .fd = -1, .slot = -1};
    return true;
}

bool output_append(struct output *output, struct bytes bytes)
{
    if (output->memory)
        buffer_append(output->memory, (const char *)bytes.data, bytes.size);
    else if (!descriptor_write(output->fd, bytes.data, bytes.size))
        return output_fail(output, errno);
    output->size += bytes.size;
    return true;
}

bool output_write_file(const char *path, struct bytes bytes)
{
    struct output output;

    return output_open(&output, path) && output_append(&output, bytes) && output_commit(&output);
}

bool std_streams_open(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false;
    return true;
}

/* stdio remembers that there was an error, but not always which. */
static int flush_streams(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return errno ? errno : EIO;
}

static bool report_failed_stream(int error)
{
    return diag_fatal("Could not write to the standard output: %s", strerror(error));
}

bool std_streams_shows_messages(void)
{
    return isatty(STDERR_FILENO) == 1;
}

bool std_streams_print(struct text text)
{
    const struct diag_state *state = diag_state_get();
    int error = 0;

    if (state->writer) {
        state->writer->write(state->writer->argument, DIAG_TEXT, text);
        return true;
    }
    if (text.size && fwrite(text.data, 1, text.size, stdout) != text.size)
        error = errno;
    if (!error)
        error = flush_streams();
    return !error || report_failed_stream(error);
}

bool std_streams_flush(void)
{
    int error = flush_streams();

    return !error || (error == EPIPE ? false : report_failed_stream(error));
}
