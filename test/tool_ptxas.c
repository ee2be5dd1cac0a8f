/* tool_ptxas: stands in for ptxas: runs as many threads as --split-compile=N says, within a
 * jobserver's tokens where it is told --jobserver, and hands out the cubin that FAKE_CUBIN names.
 * Each thread works for SAMPLE_SLEEP_MS milliseconds. FAKE_END=crash ends it by a signal with all
 * that it holds. */
#include <signal.h>

#include "plugin/client_threads.h"

static bool copy(const char *from, const char *to)
{
    static char data[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t size = in ? fread(data, 1, sizeof data, in) : 0;
    bool ok = size && out && fwrite(data, 1, size, out) == size;

    if (in)
        fclose(in);
    return out && fclose(out) == 0 && ok;
}

/* Takes all tokens that there are, and dies with them. */
static void crash(void)
{
    const char *flags = getenv("MAKEFLAGS");
    const char *auth = flags ? strstr(flags, "--jobserver-auth=") : NULL;
    struct pollfd fd = {.events = POLLIN};
    char byte;

    if (auth && sscanf(auth, "--jobserver-auth=%d", &fd.fd) == 1)
        while (poll(&fd, 1, 50) == 1 && read(fd.fd, &byte, 1) == 1)
            continue;
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    const char *output = NULL, *sleeps = getenv("SAMPLE_SLEEP_MS"), *end = getenv("FAKE_END");
    int threads = 1;
    bool is_client = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--version") == 0)
            return puts("Cuda compilation tools, release 13.0, V13.0.88\nBuild test") < 0;
        if (strcmp(argv[i], "--jobserver") == 0)
            is_client = true;
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            output = argv[++i];
        sscanf(argv[i] + (argv[i][0] == '-' && argv[i][1] == '-'), "-split-compile=%d", &threads);
    }
    if (end && strcmp(end, "crash") == 0)
        crash();
    if (!client_threads(threads, is_client, sleeps ? atol(sleeps) : 0)) {
        fputs("ptxas fatal   : Jobserver requested, but an error occurred\n", stderr);
        return 255;
    }
    return output && copy(getenv("FAKE_CUBIN"), output) ? 0 : 255;
}
