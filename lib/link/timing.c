/* timing.c: stage times as nvlink's table. */
#include "link/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/diag.h"

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void timing_start(struct timing *timing)
{
    timing->started = now();
}

void timing_end(struct timing *timing, const char *stage)
{
    uint64_t ended = now();

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

bool timing_write(const struct timing *timing, const char *path, const char *output,
                  struct arch arch, const struct cubins *cubins)
{
    bool is_stdout = path && strcmp(path, "-") == 0;
    struct buffer text = {0};
    struct stat status;
    bool ok;
    int fd;
    struct context_cleanup cleanup;

    if (!path)
        return true;
    context_defer(&cleanup, buffer_cleanup, &text);
    fd = is_stdout ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0 && (is_stdout || (fstat(fd, &status) == 0 && status.st_size == 0)))
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
    ok = fd >= 0 && write_all(fd, buffer_view(&text));
    if (!ok)
        diag_fatal("Could not write time file '%s': %s", path, strerror(errno));
    if (fd >= 0 && !is_stdout && close(fd))
        ok = false;
    context_clean(&cleanup);
    return ok;
}
