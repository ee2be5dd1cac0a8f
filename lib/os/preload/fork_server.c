/* fork_server.c: the shared object that makes a fork server of a program which it is preloaded
 * into. The program runs as ever until it opens its input. There this waits for jobs, and copies
 * the process for each: the copy goes on with that job's input, output and messages; the process
 * itself never gets behind the opening.
 *
 * Runs inside a program that is not ours: it changes nothing there but the environment that it was
 * told by, and when anything is unusual the process ends, so that minilink runs the program
 * plainly. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fork_message.h"

/* A server that hears nothing for so long ends: it is not to stay behind a burst of links. */
#define IDLE_MILLISECONDS 2000

/* How soon the end of a job is seen where there is no pidfd. */
#define TICK_MILLISECONDS 20

/* The numbers that a job's files get. -1 = this is no server, or one that has been copied. */
static int input = -1, output = -1;

__attribute__((constructor)) static void prepare(void)
{
    const char *numbers = getenv(FORK_VARIABLE);

    if (!numbers || sscanf(numbers, "%d %d", &input, &output) != 2)
        input = -1;
    unsetenv(FORK_VARIABLE);
    unsetenv("LD_PRELOAD");
}

/* A copy has one thread only. */
static bool has_one_thread(void)
{
    struct stat status;

    return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

/* Waits for a request. False at the end of the socket, and when none comes. */
static bool receive(unsigned char *request, int descriptors[FORK_DESCRIPTORS])
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    struct iovec part = {.iov_base = request, .iov_len = 1};
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(FORK_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *header;

    if (poll(&fd, 1, IDLE_MILLISECONDS) != 1 ||
        recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC) != 1)
        return false;
    if (*request != FORK_JOB)
        return *request == FORK_DETACH;
    header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_len != CMSG_LEN(FORK_DESCRIPTORS * sizeof(int)))
        return false;
    memcpy(descriptors, CMSG_DATA(header), FORK_DESCRIPTORS * sizeof(int));
    return true;
}

/* The copy's part: takes the job's files, and ends with the server. */
static void take_job(const int descriptors[FORK_DESCRIPTORS], pid_t server)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(descriptors[FORK_PRINTED], STDOUT_FILENO) < 0 ||
        dup2(descriptors[FORK_PRINTED], STDERR_FILENO) < 0 ||
        dup2(descriptors[FORK_INPUT], input) < 0 || dup2(descriptors[FORK_OUTPUT], output) < 0)
        _exit(255);
    input = -1;
}

/* Waits for the copy's end; it is killed when nobody wants its result any more. */
static struct fork_answer wait_for(pid_t pid)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    struct rusage usage = {0};
    pid_t ended;

    while ((ended = wait4(pid, &status, WNOHANG, &usage)) == 0) {
        poll(fds, 2, pidfd < 0 ? TICK_MILLISECONDS : -1);
        if (fds[0].revents) { /* nothing is asked while a job runs: that is the end */
            kill(pid, SIGKILL);
            fds[0].fd = -1;
        }
    }
    if (ended != pid)
        _exit(255);
    if (pidfd >= 0)
        close(pidfd);
    return (struct fork_answer){.status = status, .peak = (uint64_t)usage.ru_maxrss * 1024};
}

/* Returns in a copy. */
static void do_job(const int descriptors[FORK_DESCRIPTORS])
{
    struct fork_answer answer;
    pid_t server = getpid(), copy = fork();

    if (copy == 0) {
        take_job(descriptors, server);
        return;
    }
    for (int i = 0; i < FORK_DESCRIPTORS; i++)
        close(descriptors[i]);
    if (copy < 0)
        _exit(255);
    answer = wait_for(copy);
    if (send(STDIN_FILENO, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
        _exit(0);
}

/* Goes on as a process of its own, in a group of its own: what is left of the first one's group
 * goes with its end. */
static void detach(void)
{
    pid_t copy = fork();

    if (copy == 0)
        return;
    if (copy > 0)
        setpgid(copy, copy);
    _exit(copy > 0 ? 0 : 255);
}

/* Returns in copies that have a job only. */
static void serve(void)
{
    int descriptors[FORK_DESCRIPTORS];
    unsigned char request;

    if (!has_one_thread())
        _exit(255);
    while (input >= 0) {
        if (!receive(&request, descriptors))
            _exit(0);
        if (request == FORK_JOB)
            do_job(descriptors);
        else
            detach();
    }
}

static void serve_if_input(const char *path)
{
    char name[32];

    if (input < 0)
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", input);
    if (strcmp(path, name) == 0)
        serve();
}

/* The function that this one stands before. dlsym has a function's address as an object's. */
#define NEXT(type, name)                                                                           \
    type next;                                                                                     \
    void *found = dlsym(RTLD_NEXT, name);                                                          \
    memcpy(&next, &found, sizeof next)

typedef FILE *(*fopen_function)(const char *, const char *);
typedef int (*open_function)(const char *, int, ...);

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen_function, "fopen");

    serve_if_input(path);
    return next(path, mode);
}

int open(const char *path, int flags, ...)
{
    bool has_mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = 0;
    va_list rest;
    NEXT(open_function, "open");

    va_start(rest, flags);
    if (has_mode)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    serve_if_input(path);
    return next(path, flags, mode);
}

/* The same where a long has 64 bits, as wherever there is a ptxas. */
FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
