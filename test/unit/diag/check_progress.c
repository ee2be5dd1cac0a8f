/* check_progress.c: a line on a terminal, and on nothing else; gone when others write, and at the
 * end.
 *
 * Each test runs what draws in a child whose standard error is a terminal of its own, and plays
 * that terminal: it reads what comes, and knows what would be on its screen. */
#include "diag/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag/diag.h"
#include "output/std_streams.h"
#include "suite.h"

static struct {
    int master;
    int go_on; /* a byte written here, or its end, lets the child go on */
    pid_t child;
    struct buffer raw; /* all that came, NUL-terminated */
} terminal;

void tear_down(void)
{
    buffer_free(&terminal.raw);
}

/* In the child: blocks until the test has seen enough. */
static int told;
static void wait_for_test(void)
{
    char byte;

    while (read(told, &byte, 1) < 0 && errno == EINTR)
        ;
}

static void open_terminal(void (*draw)(void), bool is_terminal)
{
    int go_on[2], slave;

    ck_assert_int_eq(pipe(go_on), 0);
    terminal.master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(terminal.master >= 0 && grantpt(terminal.master) == 0 &&
              unlockpt(terminal.master) == 0);
    terminal.child = fork();
    ck_assert(terminal.child >= 0);
    if (terminal.child == 0) {
        setsid();
        slave = open(ptsname(terminal.master), O_RDWR); /* becomes the session's */
        ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 40});
        close(terminal.master);
        close(go_on[1]);
        told = go_on[0];
        if (is_terminal)
            dup2(slave, STDERR_FILENO);
        dup2(slave, STDOUT_FILENO);
        draw();
        _exit(0);
    }
    close(go_on[0]);
    terminal.go_on = go_on[1];
}

/* Reads until `text` has come; all there is when it is NULL. */
static void read_until(const char *text)
{
    char part[512];
    ssize_t size;

    while (!text || !terminal.raw.data || !strstr(terminal.raw.data, text)) {
        size = read(terminal.master, part, sizeof part);
        if (size <= 0) {
            ck_assert_msg(!text, "the child ended without '%s' in '%s'", text,
                          terminal.raw.size ? terminal.raw.data : "");
            return;
        }
        buffer_append(&terminal.raw, part, (size_t)size);
        buffer_append(&terminal.raw, "", 1);
        terminal.raw.size--;
    }
}

static void go_on(void)
{
    ck_assert_int_eq(write(terminal.go_on, "", 1), 1);
}

/* What is on the screen in the end: a carriage return goes to the line's beginning, ESC [ K takes
 * away what is right of there. */
static char *screen_of(void)
{
    char *screen = calloc(terminal.raw.size + 1, 1);
    size_t line = 0, at = 0, end = 0;

    for (size_t i = 0; i < terminal.raw.size; i++) {
        const char *data = terminal.raw.data + i;

        if (*data == '\r') {
            at = line;
        } else if (strncmp(data, "\x1b[K", 3) == 0) {
            end = at;
            i += 2;
        } else if (*data == '\n') {
            screen[end++] = '\n';
            line = at = end;
        } else {
            screen[at++] = *data;
            end = at > end ? at : end;
        }
    }
    screen[end] = '\0';
    return screen;
}

/* What the screen shows in the end is `expected`. */
static void finish(const char *expected)
{
    char *screen;
    int status;

    close(terminal.go_on);
    read_until(NULL);
    ck_assert_int_eq(waitpid(terminal.child, &status, 0), terminal.child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    screen = screen_of();
    ck_assert_str_eq(screen, expected);
    free(screen);
}

static void assemble_some(void)
{
    progress_begin(PROGRESS_ON);
    progress_stage("assembling", 40, 400);
    for (int i = 0; i < 12; i++)
        progress_done(10);
    wait_for_test();
    diag_warning("%s", "something is odd");
    std_streams_print(TEXT("a table\n"));
    wait_for_test();
    progress_end();
}

static void compile_one(void)
{
    progress_begin(PROGRESS_ON);
    progress_stage("compiling", 1, 0);
    wait_for_test();
    progress_end();
}

TEST(time_that_nobody_can_foresee_is_counted)
{
    open_terminal(compile_one, true);
    read_until("[0/1] compiling, ");
    read_until(" s\x1b");
    go_on();
    finish("");
}

TEST(counts_are_shown_messages_stand_alone_and_nothing_stays)
{
    open_terminal(assemble_some, true);
    read_until("[0/40] assembling");
    read_until("[12/40] assembling, ");
    read_until(" s left");
    go_on();
    read_until("a table\r\n");
    read_until("table\r\n\r[12/40]"); /* the line comes back behind it */
    finish("minilink warning : something is odd\na table\n");
}

static void name_a_long_stage(void)
{
    progress_begin(PROGRESS_ON);
    progress_stage("doing what takes more than the forty columns there are", 7, 0);
    wait_for_test();
    progress_end();
}

TEST(a_line_never_wraps)
{
    open_terminal(name_a_long_stage, true);
    read_until("\r[0/7] doing what takes more than the fo\x1b[K");
    finish("");
}

static void draw_a_little(void)
{
    progress_begin(PROGRESS_ON);
    progress_stage("merging", 0, 0);
    diag_warning("%s", "something is odd");
    progress_end();
    std_streams_print(TEXT("end\n"));
}

TEST(what_is_no_terminal_gets_nothing)
{
    open_terminal(draw_a_little, false); /* standard output is one, which is not enough */
    finish("end\n");
    ck_assert_str_eq(terminal.raw.data, "end\r\n");
}

static void draw_under_make(void)
{
    setenv("TERM", "xterm", 1);
    setenv("MAKELEVEL", "1", 1);
    progress_begin(PROGRESS_AUTO);
    progress_stage("merging", 0, 0);
    progress_end();
    unsetenv("MAKELEVEL");
    setenv("TERM", "dumb", 1);
    progress_begin(PROGRESS_AUTO);
    progress_stage("merging", 0, 0);
    progress_end();
    setenv("TERM", "xterm", 1);
    progress_begin(PROGRESS_OFF);
    progress_stage("merging", 0, 0);
    progress_end();
}

TEST(auto_leaves_make_and_dumb_terminals_alone)
{
    open_terminal(draw_under_make, true);
    finish("");
    ck_assert_uint_eq(terminal.raw.size, 0);
}

static void draw_and_crash(void)
{
    unsetenv("MAKELEVEL"); /* that runs the tests */
    setenv("TERM", "xterm", 1);
    progress_begin(PROGRESS_AUTO);
    progress_stage("merging", 0, 0);
    wait_for_test();
    progress_wipe();
    wait_for_test();
}

TEST(auto_draws_what_takes_longer_and_a_signal_wipes_it)
{
    open_terminal(draw_and_crash, true);
    read_until("\rmerging\x1b[K");
    go_on();
    read_until("\x1b[K\r\x1b[K");
    finish("");
}
