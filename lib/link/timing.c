/* timing.c: the clock runs on from stage to stage, so that the rows add up to the whole link; they
 * are written at its end, as nvlink's table has them. */
#include "link/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/destination.h"
#include "base/diag.h"

void timing_start(struct timing *timing)
{
    timing->started = clock_now();
}

void timing_end(struct timing *timing, const char *stage)
{
    uint64_t ended = clock_now();

    if (timing->count < TIMING_STAGES) {
        timing->rows[timing->count].stage = stage;
        timing->rows[timing->count++].nanoseconds = ended - timing->started;
    }
    timing->started = ended;
}

static void put_row(struct buffer *text, const char *source, const char *phase, const char *output,
                    struct arch arch, uint64_t nanoseconds)
{
    char name[ARCH_NAME_SIZE];

    buffer_printf(text, "%s , %s ,  , %s , %s , minilink , %.4f , ms\n", source, phase, output,
                  arch_name(arch, name), (double)nanoseconds / 1e6);
}

static bool write_all(int fd, struct text text)
{
    while (text.size > 0) {
        ssize_t written = write(fd, text.data, text.size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.data += written;
        text.size -= (size_t)written;
    }
    return true;
}

static bool failed(const char *path)
{
    diag_fatal("Could not write time file '%s': %s", path, strerror(errno));
    return false;
}

bool timing_open(struct timing *timing, const char *path)
{
    struct destination destination;

    if (!path || timing->is_open)
        return true;
    timing->fd = destination_find(&destination, path)
                     ? destination_open(&destination, O_CREAT | O_APPEND)
                     : -1;
    timing->is_open = timing->fd >= 0;
    return timing->is_open || failed(path);
}

void timing_close(struct timing *timing)
{
    if (timing->is_open)
        close(timing->fd);
    timing->is_open = false;
}

/* What others print to the same file does not count as rows. */
static bool has_rows(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_size > 0 && (fcntl(fd, F_GETFL) & O_APPEND);
}

bool timing_write(struct timing *timing, const char *path, const char *output, struct arch arch,
                  const struct cubins *cubins)
{
    struct buffer text = {0};
    struct context_cleanup cleanup;
    bool ok;

    if (!path)
        return true;
    if (!timing_open(timing, path))
        return false;
    context_defer(&cleanup, buffer_cleanup, &text);
    if (!has_rows(timing->fd))
        buffer_string(&text, "source file name , phase name , phase input files , "
                             "phase output file , arch , tool, metric , unit\n");
    for (size_t i = 0; i < timing->count; i++)
        put_row(&text, "link", timing->rows[i].stage, output ? output : "", arch,
                timing->rows[i].nanoseconds);
    for (size_t i = 0; i < cubins->count; i++) {
        char name[64];

        snprintf(name, sizeof name, "chunk-%zu.ptx", i);
        put_row(&text, name, "assemble", "", arch, cubins->list[i].nanoseconds);
    }
    ok = write_all(timing->fd, buffer_view(&text)) || failed(path);
    timing_close(timing);
    context_clean(&cleanup);
    return ok;
}
