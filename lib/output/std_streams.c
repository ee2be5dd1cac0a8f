/* std_streams.c: opening the standard descriptors that are closed, and printing without losing
 * errors. */
#include "output/std_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "diag/diag.h"

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
