/* check_jobserver.c: MAKEFLAGS by table, and tokens through real pipes and fifos. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.h"
#include "pool/jobserver.h"
#include "suite.h"

static const struct {
    const char *makeflags;
    enum jobserver_state state;
    enum jobserver_kind kind;
    int read_fd, write_fd;
    const char *path;
} parse_rows[] = {
    {NULL, JOBSERVER_NO_MAKEFLAGS, JOBSERVER_NONE, -1, -1, ""},
    {"", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {"kw", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {" -j4", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {" -j1", JOBSERVER_NO_AUTH, JOBSERVER_SERIAL, -1, -1, ""},
    {"k -j1 -- X=1", JOBSERVER_NO_AUTH, JOBSERVER_SERIAL, -1, -1, ""},
    {"k -- -j1", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {" -j1 --jobserver-auth=3,4", JOBSERVER_OK, JOBSERVER_PIPE, 3, 4, ""},
    {" -j4 --jobserver-auth=3,4", JOBSERVER_OK, JOBSERVER_PIPE, 3, 4, ""},
    {"kw -j4 --jobserver-auth=13,24", JOBSERVER_OK, JOBSERVER_PIPE, 13, 24, ""},
    {" -j4 --jobserver-auth=10,20", JOBSERVER_OK, JOBSERVER_PIPE, 10, 20, ""},
    {"--jobserver-fds=5,6 -j", JOBSERVER_OK, JOBSERVER_PIPE, 5, 6, ""},
    {" -j --jobserver-fds=5,6 --jobserver-auth=3,4", JOBSERVER_OK, JOBSERVER_PIPE, 3, 4, ""},
    {" --jobserver-auth=fifo:/a --jobserver-auth=7,8", JOBSERVER_OK, JOBSERVER_PIPE, 7, 8, ""},
    {" --jobserver-auth=7,8 --jobserver-auth=fifo:/a", JOBSERVER_OK, JOBSERVER_FIFO, -1, -1, "/a"},
    {" -j4 --jobserver-auth=fifo:/tmp/GMfifo1 -k", JOBSERVER_OK, JOBSERVER_FIFO, -1, -1,
     "/tmp/GMfifo1"},
    {" --jobserver-auth=0,0", JOBSERVER_OK, JOBSERVER_PIPE, 0, 0, ""},
    {" --jobserver-auth=-1,3", JOBSERVER_OK, JOBSERVER_DISABLED, -1, 3, ""},
    {" --jobserver-auth=-2,-2", JOBSERVER_OK, JOBSERVER_DISABLED, -2, -2, ""},
    {" --jobserver-auth=3,-1", JOBSERVER_OK, JOBSERVER_DISABLED, 3, -1, ""},
    {" --jobserver-auth=", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, -1, -1, ""},
    {" --jobserver-auth=fifo:", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, -1, -1, ""},
    {" --jobserver-auth=3", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, 3, -1, ""},
    {" --jobserver-auth=3,", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, 3, 0, ""},
    {" --jobserver-auth=3,4,5", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, 3, 4, ""},
    {" --jobserver-auth=-,4", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, 0, -1, ""},
    {" --jobserver-auth=99999999999,4", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, -1, -1, ""},
    {" --jobserver-auth=2147483639,4", JOBSERVER_OK, JOBSERVER_PIPE, 2147483639, 4, ""},
    {" --jobserver-auth=2147483640,4", JOBSERVER_NOT_OPEN, JOBSERVER_NONE, -1, -1, ""},
    {"n -j4 --jobserver-auth=3,4", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {"kn -j4 --jobserver-auth=3,4", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {"name=n --jobserver-auth=3,4", JOBSERVER_OK, JOBSERVER_PIPE, 3, 4, ""},
    {" -j4 -- --jobserver-auth=3,4", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
    {" --jobserver-auth=3,4 -- X=1\\ --jobserver-auth=8,9", JOBSERVER_OK, JOBSERVER_PIPE, 3, 4, ""},
    {" X--jobserver-auth=3,4", JOBSERVER_NO_AUTH, JOBSERVER_NONE, -1, -1, ""},
};

TEST_LOOP(makeflags_are_read_as_make_writes_them, COUNT(parse_rows))
{
    struct jobserver_auth auth;

    ck_assert_int_eq(jobserver_parse(parse_rows[_i].makeflags, &auth), parse_rows[_i].state);
    ck_assert_int_eq(auth.kind, parse_rows[_i].kind);
    ck_assert(text_equal(auth.path, text_of(parse_rows[_i].path)));
    if (auth.kind != JOBSERVER_NONE) {
        ck_assert_int_eq(auth.read_fd, parse_rows[_i].read_fd);
        ck_assert_int_eq(auth.write_fd, parse_rows[_i].write_fd);
    }
}

/* A make of our own: a pipe as one would inherit it, blocking and not closed on exec. */
static int make_fds[2];
static struct jobserver_auth auth;

static void make_pipe(const char *tokens)
{
    ck_assert_int_eq(pipe(make_fds), 0);
    ck_assert_int_eq(write(make_fds[1], tokens, strlen(tokens)), (ssize_t)strlen(tokens));
    auth = (struct jobserver_auth){
        .kind = JOBSERVER_PIPE, .read_fd = make_fds[0], .write_fd = make_fds[1]};
}

/* A client of such a make. */
static struct jobserver *open_with(const char *tokens)
{
    make_pipe(tokens);
    return jobserver_open(&auth);
}

static void expect_in_pipe(const char *tokens)
{
    char back[16] = "";
    struct pollfd fd = {.fd = make_fds[0], .events = POLLIN};

    if (poll(&fd, 1, 0) > 0)
        ck_assert_int_gt(read(make_fds[0], back, sizeof back - 1), 0);
    ck_assert_str_eq(back, tokens);
}

static int new_wake(unsigned count)
{
    return eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK);
}

TEST(the_implicit_token_comes_first_and_bytes_go_back_as_they_came)
{
    struct jobserver *jobserver = open_with("ab");
    int wake = new_wake(1);

    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert(!jobserver_acquire(jobserver, wake));
    close(wake);
    wake = new_wake(0);
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert(jobserver_acquire(jobserver, wake));
    expect_in_pipe("");
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_OK);
    expect_in_pipe("b");
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_OK);
    expect_in_pipe("a");
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_OK);
    expect_in_pipe("");
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_OK);
    close(wake);
}

/* A client's own descriptors do not block, and no child has them. */
static void expect_opened_anew(int count)
{
    bool was_open[256];
    struct jobserver *jobserver;

    for (int fd = 0; fd < 256; fd++)
        was_open[fd] = fcntl(fd, F_GETFD) >= 0;
    jobserver = jobserver_open(&auth);
    for (int fd = 0; fd < 256; fd++) {
        if (was_open[fd] || fcntl(fd, F_GETFD) < 0)
            continue;
        ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
        count--;
    }
    ck_assert_int_eq(count, 0);
    jobserver_close(jobserver);
}

TEST(the_inherited_pipe_keeps_its_flags)
{
    struct jobserver *jobserver;
    int before, before_write;

    make_pipe("a");
    before = fcntl(make_fds[0], F_GETFL);
    before_write = fcntl(make_fds[1], F_GETFL);
    jobserver = jobserver_open(&auth);
    ck_assert_int_eq(fcntl(make_fds[0], F_GETFL), before);
    ck_assert_int_eq(fcntl(make_fds[1], F_GETFL), before_write);
    jobserver_close(jobserver);
    ck_assert_int_eq(fcntl(make_fds[0], F_GETFL), before);
    ck_assert_int_eq(fcntl(make_fds[0], F_GETFD), 0);
    expect_opened_anew(2);
}

/* Where standard input is closed, the client's own descriptor has its number. */
TEST(close_closes_descriptor_0)
{
    struct jobserver *jobserver;

    make_pipe("");
    close(0);
    jobserver = jobserver_open(&auth);
    ck_assert_int_ge(fcntl(0, F_GETFD), 0);
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_OK);
    ck_assert_int_eq(fcntl(0, F_GETFD), -1);
}

TEST(close_returns_everything)
{
    struct jobserver *jobserver = open_with("abc");
    int wake = new_wake(0);

    for (int i = 0; i < 3; i++)
        ck_assert(jobserver_acquire(jobserver, wake));
    expect_in_pipe("c");
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_OK);
    expect_in_pipe("ba");
    ck_assert_int_eq(jobserver_close(NULL), JOBSERVER_OK);
    close(wake);
}

TEST(only_one_client_at_a_time)
{
    struct jobserver *jobserver = open_with("");

    ck_assert_ptr_null(jobserver_open(&auth));
    jobserver_close(jobserver);
    jobserver = jobserver_open(&auth);
    ck_assert_ptr_nonnull(jobserver);
    jobserver_close(jobserver);
}

TEST(releasing_what_is_not_held_is_an_error)
{
    struct jobserver *jobserver = open_with("");

    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_BAD_RELEASE);
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_BAD_RELEASE);
}

TEST(a_token_that_cannot_be_written_back_is_an_error)
{
    struct jobserver *jobserver = open_with("a");
    int wake = new_wake(0), flags = fcntl(make_fds[1], F_GETFL);

    for (int i = 0; i < 2; i++)
        ck_assert(jobserver_acquire(jobserver, wake));
    fcntl(make_fds[1], F_SETFL, flags | O_NONBLOCK);
    while (write(make_fds[1], "x", 1) == 1)
        ; /* somebody fills the pipe */
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_IO_ERROR);
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_IO_ERROR); /* the first one sticks */
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_IO_ERROR);
    close(wake);
}

/* A client that reads from a pipe without writers. It keeps one itself on what it opens, so what it
 * reads from is replaced behind its back: the lowest descriptor that was free. */
static struct jobserver *open_ended(void)
{
    struct jobserver *jobserver;
    int ended[2], reader;

    make_pipe("");
    ck_assert_int_eq(pipe(ended), 0);
    close(ended[1]);
    reader = dup(ended[0]);
    close(reader);
    jobserver = jobserver_open(&auth);
    ck_assert_int_eq(fcntl(reader, F_GETFL) & O_ACCMODE, O_RDONLY);
    ck_assert_int_eq(dup2(ended[0], reader), reader);
    close(ended[0]);
    return jobserver;
}

TEST(the_end_of_the_pipe_is_a_state_of_its_own_and_the_first_one_stays)
{
    struct jobserver *jobserver = open_ended();
    int wake = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const struct itimerspec soon = {.it_value = {.tv_nsec = 10000000}};
    ck_assert(jobserver_acquire(jobserver, wake));
    /* Whoever is woken before the pipe was looked at tries again. */
    do {
        ck_assert_int_eq(timerfd_settime(wake, 0, &soon, NULL), 0);
        ck_assert(!jobserver_acquire(jobserver, wake));
    } while (jobserver_release(jobserver) == JOBSERVER_OK && jobserver_acquire(jobserver, wake));
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_SHORT_IO);
    ck_assert_int_eq(jobserver_release(jobserver), JOBSERVER_SHORT_IO); /* not BAD_RELEASE */
    ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_SHORT_IO);
    close(wake);
}

TEST(waiting_ends_when_a_token_comes)
{
    struct jobserver *jobserver = open_with("");
    int wake = new_wake(0);
    pid_t sibling = fork();

    if (sibling == 0) {
        usleep(50000);
        _exit(write(make_fds[1], "t", 1) != 1);
    }
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert(jobserver_acquire(jobserver, wake));
    jobserver_close(jobserver);
    expect_in_pipe("t");
    waitpid(sibling, NULL, 0);
    close(wake);
}

TEST(descriptors_that_make_did_not_hand_down_are_refused)
{
    struct jobserver_auth bad[4];
    int other[2];

    make_pipe("");
    for (int i = 0; i < 4; i++)
        bad[i] = auth;
    ck_assert_int_eq(pipe2(other, O_CLOEXEC), 0);
    bad[0].read_fd = 77; /* closed */
    bad[1].read_fd = open("/dev/null", O_RDONLY);
    bad[2].read_fd = make_fds[1]; /* ends swapped */
    bad[2].write_fd = make_fds[0];
    bad[3].read_fd = other[0]; /* a pipe of our own */
    bad[3].write_fd = other[1];
    for (int i = 0; i < 4; i++) {
        struct jobserver *jobserver = jobserver_open(&bad[i]);

        ck_assert(jobserver_acquire(jobserver, -1));
        ck_assert_int_eq(jobserver_close(jobserver), JOBSERVER_NOT_OPEN);
    }
}

TEST(a_fifo_serves_both_ways)
{
    struct jobserver *jobserver;
    char path[64], back[4] = "";
    int wake = new_wake(0), fd;

    snprintf(path, sizeof path, P_tmpdir "/minilink-fifo-%d", (int)getpid());
    unlink(path); /* of a process that had the number before, and was killed */
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    fd = open(path, O_RDWR | O_NONBLOCK);
    ck_assert_int_eq(write(fd, "+", 1), 1);
    auth = (struct jobserver_auth){.kind = JOBSERVER_FIFO, .path = text_of(path)};
    jobserver = jobserver_open(&auth);
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert(jobserver_acquire(jobserver, wake));
    ck_assert_int_lt(read(fd, back, 1), 0);
    jobserver_close(jobserver);
    ck_assert_int_eq(read(fd, back, 2), 1);
    ck_assert_str_eq(back, "+");
    expect_opened_anew(1);
    unlink(path);
    close(fd);
    close(wake);
}

TEST(a_file_or_nothing_in_place_of_a_fifo_is_refused)
{
    const char *const paths[] = {"/dev/null", "/nonexistent/fifo", "/"};

    for (int i = 0; i < 3; i++) {
        auth = (struct jobserver_auth){.kind = JOBSERVER_FIFO, .path = text_of(paths[i])};
        ck_assert_int_eq(jobserver_close(jobserver_open(&auth)), JOBSERVER_NOT_OPEN);
    }
}

static void on_signal(int number)
{
    (void)number;
    jobserver_return_all();
    _exit(0);
}

TEST(no_client_and_one_that_is_shut_down_have_states)
{
    struct jobserver *jobserver = open_with("ab");

    ck_assert_int_eq(jobserver_release(NULL), 4);
    jobserver_acquire(jobserver, -1);
    jobserver_acquire(jobserver, -1);
    jobserver_return_all();
    expect_in_pipe("ba");
    ck_assert_int_eq(jobserver_close(jobserver), 3);
}

TEST(a_signal_handler_returns_everything)
{
    pid_t child;
    int status;

    make_pipe("ab");
    child = fork();
    if (child == 0) {
        struct jobserver *jobserver = jobserver_open(&auth);

        signal(SIGTERM, on_signal);
        for (int i = 0; i < 3; i++)
            jobserver_acquire(jobserver, -1);
        raise(SIGTERM);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    expect_in_pipe("ba");
    jobserver_return_all(); /* without a client: nothing */
}

/* Asks for no jobserver under a value of MAKEFLAGS. Returns how many threads of 8 it leaves. */
static uint32_t join(enum jobserver_use use, const char *makeflags)
{
    uint32_t threads = 8;

    if (makeflags)
        setenv("MAKEFLAGS", makeflags, 1);
    else
        unsetenv("MAKEFLAGS");
    messages_catch();
    ck_assert_ptr_null(jobserver_join(use, &threads));
    return threads;
}

static const struct {
    enum jobserver_use use;
    const char *makeflags;
    uint32_t threads;
    const char *said; /* the beginning of it */
} join_rows[] = {
    {JOBSERVER_AUTO, NULL, 8, ""},
    {JOBSERVER_AUTO, " -j", 8, ""},
    {JOBSERVER_ON, NULL, 8,
     "minilink warning : GNU Jobserver support requested, but no compatible jobserver found. "
     "Ignoring '--jobserver'\n"},
    {JOBSERVER_OFF, " --jobserver-auth=77,78", 8, ""},
    {JOBSERVER_AUTO, " --jobserver-auth=-2,-2", 1, ""},
    {JOBSERVER_AUTO, "k -j1", 1, ""},
    {JOBSERVER_ON, " --jobserver-auth=-2,-2", 1,
     "minilink warning : Jobserver requested, but an error occurred: make keeps its jobserver from "
     "this recipe\n"},
    {JOBSERVER_AUTO, " --jobserver-auth=77,78", 1, ""},
    {JOBSERVER_AUTO, " --jobserver-auth=fifo:/nonexistent", 1, ""},
    {JOBSERVER_AUTO, " --jobserver-auth=what", 1, ""},
    {JOBSERVER_ON, " --jobserver-auth=77,78", 1,
     "minilink warning : Jobserver requested, but an error occurred: Bad file descriptor\n"},
    {JOBSERVER_ON, " --jobserver-auth=fifo:/nonexistent", 1,
     "minilink warning : Jobserver requested, but an error occurred: No such file"},
    {JOBSERVER_ON, " --jobserver-auth=fifo:/dev/null", 1,
     "minilink warning : Jobserver requested, but an error occurred: its path in MAKEFLAGS is no "
     "FIFO's\n"},
    {JOBSERVER_ON, " --jobserver-auth=what", 1,
     "minilink warning : Jobserver requested, but an error occurred: its value in MAKEFLAGS"},
};

TEST_LOOP(join_says_what_the_user_must_know_and_no_more, COUNT(join_rows))
{
    const char *said = join_rows[_i].said;

    /* Not the user's doing: -Werror makes no error of it. */
    diag_state_get()->warnings_are_errors = true;
    ck_assert_uint_eq(join(join_rows[_i].use, join_rows[_i].makeflags), join_rows[_i].threads);
    ck_assert_int_eq(strncmp(messages_said(), said, *said ? strlen(said) : 1), 0);
}

TEST(a_link_inside_another_has_the_one_token_that_this_runs_by)
{
    struct jobserver *outer;
    uint32_t threads = 8;
    char makeflags[64];

    ck_assert_int_eq(pipe(make_fds), 0);
    snprintf(makeflags, sizeof makeflags, " --jobserver-auth=%d,%d", make_fds[0], make_fds[1]);
    setenv("MAKEFLAGS", makeflags, 1);
    outer = jobserver_join(JOBSERVER_AUTO, &threads);
    ck_assert_ptr_nonnull(outer);
    ck_assert_uint_eq(threads, 8);
    ck_assert_uint_eq(join(JOBSERVER_AUTO, makeflags), 1);
    jobserver_close(outer);
}

TEST(whether_make_counts_jobs)
{
    static const struct {
        enum jobserver_use use;
        const char *makeflags;
        bool counts;
    } rows[] = {{JOBSERVER_AUTO, "", false},
                {JOBSERVER_AUTO, " -j", false},
                {JOBSERVER_AUTO, " -j1", true},
                {JOBSERVER_OFF, " -j1", false},
                {JOBSERVER_AUTO, " --jobserver-auth=3,4", true},
                {JOBSERVER_OFF, " --jobserver-auth=3,4", false},
                {JOBSERVER_ON, " --jobserver-auth=what", true}};

    for (int i = 0; i < COUNT(rows); i++) {
        setenv("MAKEFLAGS", rows[i].makeflags, 1);
        ck_assert_int_eq(jobserver_counts(rows[i].use), rows[i].counts);
    }
    unsetenv("MAKEFLAGS");
    ck_assert(!jobserver_counts(JOBSERVER_ON));
}

TEST(a_jobserver_that_nobody_asked_for_is_an_info_under_v)
{
    diag_state_get()->verbose = 2;
    ck_assert_uint_eq(join(JOBSERVER_AUTO, " --jobserver-auth=77,78"), 1);
    messages_expect("minilink info    : make's jobserver cannot be used: Bad file descriptor. One "
                    "chunk is assembled at a time; prefix the recipe with '+' so that make hands "
                    "its jobserver on\n");
}
