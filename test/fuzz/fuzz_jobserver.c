/* fuzz_jobserver.c: any text as MAKEFLAGS, and any order of taking and giving tokens back. The
 * first byte says how many tokens are in the pipe, whose ends are the descriptors 98 and 99; the
 * second how many of the bytes behind it are a sequence of acquire (odd) and release (even). In the
 * end every token must be back. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pool/jobserver.h"
#include "fuzz.h"

/* Tokens in the pipe that a text in the right form names. */
static unsigned fill_pipe(unsigned tokens)
{
    int ends[2];

    if (pipe(ends) || dup2(ends[0], 98) != 98 || dup2(ends[1], 99) != 99)
        abort();
    close(ends[0]);
    close(ends[1]);
    for (unsigned i = 0; i < tokens; i++)
        if (write(99, "+", 1) != 1)
            abort();
    return tokens;
}

static unsigned count_tokens(void)
{
    int waiting = 0;

    if (ioctl(98, FIONREAD, &waiting))
        abort();
    return (unsigned)waiting;
}

/* What wakes the call: something readable where no token can be taken, so that none waits. */
static int wake(bool is_ok)
{
    static int ready = -1, quiet[2];

    if (ready < 0) {
        ready = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (ready < 0 || pipe2(quiet, O_CLOEXEC))
            abort();
    }
    return is_ok && count_tokens() > 0 ? quiet[0] : ready;
}

static void play(struct jobserver *jobserver, struct bytes moves, unsigned tokens)
{
    unsigned held = 0;
    bool is_ok = true;

    for (size_t i = 0; i < moves.size; i++) {
        if (moves.data[i] & 1)
            held += jobserver_acquire(jobserver, wake(is_ok));
        else if (held > 0 && (is_ok = jobserver_release(jobserver) == JOBSERVER_OK))
            held--;
        if (held > tokens + 1)
            abort();
    }
    if (moves.size & 1)
        jobserver_return_all();
}

/* The tokens must be ours: the fuzzer's other descriptors are none to read from. */
static bool is_ours(const char *makeflags)
{
    struct jobserver_auth auth;
    enum jobserver_state state = jobserver_parse(makeflags, &auth);

    if (state == JOBSERVER_OK && auth.kind == JOBSERVER_NONE)
        abort();
    if (auth.kind == JOBSERVER_PIPE)
        return auth.read_fd >= 98 && auth.write_fd >= 98;
    return auth.kind != JOBSERVER_FIFO || text_starts(auth.path, TEXT("/proc/self/fd/99")) ||
           auth.path.size < 4;
}

static void fuzz(struct bytes rest)
{
    unsigned tokens = fill_pipe(fuzz_byte(&rest) % 32u);
    struct bytes moves = {NULL, fuzz_byte(&rest)};
    struct jobserver *jobserver;
    uint32_t threads = 7;
    char *text;

    if (moves.size > rest.size)
        moves.size = rest.size;
    moves.data = rest.data;
    rest = (struct bytes){rest.data + moves.size, rest.size - moves.size};
    text = fuzz_string(rest);
    if (is_ours(text)) {
        setenv("MAKEFLAGS", text, 1);
        jobserver = jobserver_join((enum jobserver_use)(moves.size % 3), &threads);
        if (jobserver)
            play(jobserver, moves, tokens);
        jobserver_close(jobserver);
    }
    if (count_tokens() != tokens || (threads != 7 && threads != 1))
        abort();
}
