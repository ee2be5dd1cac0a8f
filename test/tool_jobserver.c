/* tool_jobserver: a jobserver like GNU make's, which sees whether its tokens come back.
 *
 *     tool_jobserver pipe|fifo TOKENS COMMAND...
 *
 * Runs COMMAND with MAKEFLAGS naming a pipe or a fifo with TOKENS bytes in it, each another one, so
 * that a byte that is not the one that was taken shows. When COMMAND has ended, the bytes are
 * counted: status 0 when they are the same, 1 when not, 2 when nothing could be started. COMMAND's
 * own status does not matter. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
    fprintf(stderr, "tool_jobserver: %s: %s\n", what, strerror(errno));
    return 2;
}

/* Opens the way for tokens, both ends, and names it in the environment. */
static bool serve(const char *kind, const char *fifo, int fds[2])
{
    char flags[300];

    if (strcmp(kind, "fifo") == 0) {
        if (mkfifo(fifo, 0600))
            return false;
        fds[0] = fds[1] = open(fifo, O_RDWR | O_CLOEXEC);
        snprintf(flags, sizeof flags, " -j --jobserver-auth=fifo:%s", fifo);
    } else {
        if (pipe(fds))
            return false;
        snprintf(flags, sizeof flags, " -j --jobserver-auth=%d,%d", fds[0], fds[1]);
    }
    return fds[0] >= 0 && setenv("MAKEFLAGS", flags, 1) == 0;
}

static int run(char **command)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execvp(command[0], command);
        _exit(fail(command[0]));
    }
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    unsigned char seen[256] = {0}, byte;
    int fds[2], tokens = argc > 2 ? atoi(argv[2]) : 0, count = 0;
    char fifo[64];
    bool same = true;

    if (argc < 4 || tokens < 1 || tokens > 200)
        return 2;
    snprintf(fifo, sizeof fifo, "jobserver-%d.fifo", (int)getpid());
    if (!serve(argv[1], fifo, fds))
        return fail("no jobserver");
    for (int i = 0; i < tokens; i++) {
        byte = (unsigned char)(33 + i);
        if (write(fds[1], &byte, 1) != 1)
            return fail("no tokens");
    }
    if (run(argv + 3))
        return fail(argv[3]);
    /* Clients that share the description must find it blocking still. */
    if (fcntl(fds[0], F_GETFL) & O_NONBLOCK) {
        fprintf(stderr, "tool_jobserver: the pipe has become non-blocking\n");
        same = false;
    }
    fcntl(fds[0], F_SETFL, fcntl(fds[0], F_GETFL) | O_NONBLOCK);
    for (; read(fds[0], &byte, 1) == 1; count++)
        seen[byte]++;
    for (int i = 0; i < tokens; i++)
        same &= seen[33 + i] == 1;
    if (strcmp(argv[1], "fifo") == 0)
        unlink(fifo);
    if (!same || count != tokens)
        fprintf(stderr, "tool_jobserver: %d of %d tokens came back%s\n", count, tokens,
                same ? "" : ", not the same");
    return !same || count != tokens;
}
