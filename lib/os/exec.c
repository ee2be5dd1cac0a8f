/* exec.c: one pipe, one pidfd, and a table of process groups.
 *
 * A child is started by posix_spawn, which (vfork inside) costs the same however large the linker
 * has become, and is safe in a program with threads; fork, for a call, is neither. One poll watches
 * a child's pidfd and its output: a grandchild may hold the pipe open for longer. */
#include "os/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/thread.h"

extern char **environ;

/* Workers block all signals, and a parent may ignore some; both would be inherited. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    return posix_spawnattr_setflags(attributes, flags) ?: posix_spawnattr_setpgroup(attributes, 0)
           ?: posix_spawnattr_setsigmask(attributes, &none)
           ?: posix_spawnattr_setsigdefault(attributes, &all);
}

static int set_actions(posix_spawn_file_actions_t *actions, const struct exec_request *request,
                       int output)
{
    int error =
        request->input
            ? posix_spawn_file_actions_adddup2(actions, request->input, STDIN_FILENO)
            : posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    error = error ?: posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO)
            ?: posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    /* A dup2 onto itself clears close-on-exec in the child (glibc 2.29, POSIX 2024). */
    for (size_t i = 0; !error && i < request->pass_count; i++)
        error = posix_spawn_file_actions_adddup2(actions, request->pass[i],
                                                 (request->pass_as ?: request->pass)[i]);
    return error;
}

/* In the child of a call: does what set_attributes and set_actions do for a program. */
static void run_call(const struct exec_request *request, int output)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* our handlers would return our parent's tokens */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        _exit(255);
    close(output); /* so that the end of the other two is the end of the pipe */
    _exit(request->call(request->argument));
}

/* Returns 0, or an errno value. */
static int spawn_call(pid_t *pid, const struct exec_request *request, int output)
{
    *pid = fork();
    if (*pid == 0)
        run_call(request, output);
    if (*pid < 0)
        return errno;
    setpgid(*pid, *pid); /* parent or child, whichever is first */
    return 0;
}

/* glibc's memory in pages of 2 MB where the kernel has them, 16 MB at a time. */
#define LARGE_PAGES "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"

/* Replaces the variable of the same name in the list, or appends it. */
static size_t put_variable(char **list, size_t count, const char *variable)
{
    size_t name = strcspn(variable, "=") + 1, kept = 0;

    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i], variable, name) != 0)
            list[kept++] = list[i];
    list[kept++] = (char *)variable; /* nobody writes to it: environ's type lacks the const */
    return kept;
}

/* This process's environment and what the request adds. NULL without memory. */
static char **make_environment(const struct exec_request *request)
{
    size_t count = string_list_count((const char *const *)environ);
    char **list;

    list = malloc((count + 3 + EXEC_VARIABLES) * sizeof *list);
    if (!list)
        return NULL;
    if (count)
        memcpy(list, environ, count * sizeof *list);
    if (request->large_pages && !getenv("GLIBC_TUNABLES")) /* the user's own stay */
        count = put_variable(list, count, LARGE_PAGES);
    if (request->says_end)
        count = put_variable(list, count, EXEC_SAYS_END "=1");
    for (size_t i = 0; i < EXEC_VARIABLES && request->variables[i]; i++)
        count = put_variable(list, count, request->variables[i]);
    list[count] = NULL;
    return list;
}

/* Returns 0, or an errno value. */
static int spawn_program(pid_t *pid, const struct exec_request *request, int output)
{
    char **environment = make_environment(request);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = ENOMEM;

    posix_spawn_file_actions_init(&actions); /* glibc's two need no memory */
    posix_spawnattr_init(&attributes);
    if (environment)
        error = set_attributes(&attributes) ?: set_actions(&actions, request, output)
                ?: posix_spawn(pid, request->argv[0], &actions, &attributes,
                               (char *const *)request->argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error;
}

int exec_fix_addresses(void)
{
    int before = personality(0xffffffff); /* only asks */

    return before >= 0 && !(before & ADDR_NO_RANDOMIZE) &&
                   personality((unsigned long)before | ADDR_NO_RANDOMIZE) >= 0
               ? before
               : -1;
}

static int spawn_child(pid_t *pid, const struct exec_request *request, int output)
{
    int before, error;

    if (request->call)
        return spawn_call(pid, request, output);
    before = request->fixed_addresses ? exec_fix_addresses() : -1;
    error = spawn_program(pid, request, output);
    if (before >= 0)
        personality((unsigned long)before);
    return error;
}

/* More than a link can have threads. */
#define GROUPS 2048

/* How soon a cancelled child is killed, and, where there is no pidfd, how soon its end is seen. */
#define TICK_MILLISECONDS 20

/* An entry of the table that is free, one that is taken, and one whose child is just being started:
 * the signal handler must wait for that, since nobody would kill the child afterwards. */
enum { GROUP_FREE = 0, GROUP_TAKEN = -1, GROUP_STARTING = -2 };

/* How often, at most, the handler checks a child that is being started, and how long it sleeps in
 * between: a start takes a millisecond or two. */
#define START_LOOKS       500
#define START_NANOSECONDS 1000000

/* How long a child may take to end after SIGTERM. One that works has ended long before; on a busy
 * machine, or to reach Slurm's controller, it needs seconds. */
#define ASKED_NANOSECONDS 10000000000u

/* For the signal handler: process groups of running children, and which get SIGTERM first. */
static _Atomic(pid_t) groups[GROUPS];
static atomic_bool is_asked[GROUPS];
static atomic_bool is_left[GROUPS]; /* for exec_reap_all() */
static atomic_bool stopping;

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* For the signal handler: sends SIGTERM, and waits for the child to end. */
static void ask_group_to_end(pid_t group)
{
    const struct timespec pause = {.tv_nsec = START_NANOSECONDS};
    uint64_t begin = clock_now();

    kill(-group, SIGTERM);
    while (!has_ended(group) && clock_now() - begin <= ASKED_NANOSECONDS)
        nanosleep(&pause, NULL);
}

void exec_signal_all(int number)
{
    for (size_t i = 0; i < GROUPS; i++) {
        pid_t group = atomic_load(&groups[i]);

        if (group > 0)
            kill(-group, number);
    }
}

void exec_kill_all(void)
{
    int saved = errno;

    atomic_store(&stopping, true);
    for (size_t i = 0; i < GROUPS; i++) {
        const struct timespec pause = {.tv_nsec = START_NANOSECONDS};
        pid_t group = atomic_load(&groups[i]);

        for (int looks = 0; group == GROUP_STARTING && looks < START_LOOKS; looks++) {
            nanosleep(&pause, NULL);
            group = atomic_load(&groups[i]);
        }
        if (group > 0 && atomic_load(&is_asked[i])) {
            ask_group_to_end(group);
            group = atomic_load(&groups[i]); /* another thread may have reaped it */
        }
        if (group > 0)
            kill(-group, SIGKILL);
    }
    errno = saved;
}

/* Reserves an entry; linear, which is nothing beside a process. GROUPS when the table is full. */
static size_t reserve_group(void)
{
    for (size_t i = 0; i < GROUPS; i++) {
        pid_t none = GROUP_FREE;

        if (atomic_compare_exchange_strong(&groups[i], &none, GROUP_TAKEN))
            return i;
    }
    return GROUPS;
}

bool exec_is_cancelled(const struct exec_request *request)
{
    return atomic_load(&stopping) ||
           (request->cancelled && __atomic_load_n(request->cancelled, __ATOMIC_RELAXED));
}

/* The last bytes of a child that says its end. */
struct end_report {
    uint64_t magic;
    int64_t status;
    uint64_t peak;
};
#define END_MAGIC 0x646e65206b6e696cu

void exec_say_end(int status)
{
    struct end_report report = {.magic = END_MAGIC, .status = status};
    struct rusage usage = {0};

    getrusage(RUSAGE_SELF, &usage);
    report.peak = (uint64_t)usage.ru_maxrss * 1024;
    descriptor_write(STDOUT_FILENO, &report, sizeof report);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
}

/* Output of which a part was dropped has lost the report, too. */
static bool has_said_end(const struct exec_request *request, const struct capture *capture)
{
    uint64_t magic = 0;

    if (request->says_end && !capture->cut && capture->size >= sizeof(struct end_report))
        memcpy(&magic, capture->data + capture->size - sizeof(struct end_report), sizeof magic);
    return magic == END_MAGIC;
}

/* Waits for the child's end, or until it has said that, but does not reap it. EXEC_EXITED unless
 * it was cancelled or timed out. */
static enum exec_end follow_child(pid_t pid, int output, const struct exec_request *request,
                                  struct capture *capture)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3; without it, polls each tick */
    uint64_t end = clock_now() + (uint64_t)request->timeout * 1000000000u, asked = 0;
    bool is_open = true, killed = false, is_late = false;

    while (!has_ended(pid) && (is_open || !has_said_end(request, capture))) {
        struct pollfd fds[] = {{.fd = is_open ? output : -1, .events = POLLIN},
                               {.fd = pidfd, .events = POLLIN}};

        is_late |= !killed && request->timeout && clock_now() >= end;
        if (!killed && (is_late || exec_is_cancelled(request))) {
            kill(-pid, request->is_asked_first ? SIGTERM : SIGKILL);
            killed = true;
            asked = request->is_asked_first ? clock_now() : 0;
        }
        if (asked && clock_now() - asked > ASKED_NANOSECONDS)
            kill(-pid, SIGKILL);
        poll(fds, 2, TICK_MILLISECONDS); /* a failure is a spurious wake-up */
        if (fds[0].revents)
            is_open = capture_read(capture, output);
    }
    if (is_open)
        capture_read(capture, output);
    if (pidfd >= 0)
        close(pidfd);
    if (is_late)
        return EXEC_TIMED_OUT;
    /* exec_kill_all may have been the killer */
    return killed || exec_is_cancelled(request) ? EXEC_CANCELLED : EXEC_EXITED;
}

/* Reaps the child at `place` of the table. Before that, while no other process can have the number,
 * kills what is left of its group and removes it from the table. Returns 0 or an errno value. */
static int reap(pid_t pid, size_t place, int *status, struct rusage *usage)
{
    pid_t reaped;

    kill(-pid, SIGKILL);
    atomic_store(&groups[place], GROUP_TAKEN);
    do
        reaped = wait4(pid, status, 0, usage);
    while (reaped < 0 && errno == EINTR);
    return reaped == pid ? 0 : ECHILD; /* somebody ignores SIGCHLD, so that the status is lost */
}

static void reap_child(pid_t pid, size_t place, const struct exec_request *request,
                       enum exec_end end, struct exec_result *result)
{
    struct rusage usage = {0};
    int status = 0;

    if (reap(pid, place, &status, &usage))
        *result = (struct exec_result){.end = EXEC_NOT_STARTED, .code = ECHILD};
    else if (end != EXEC_EXITED)
        *result = (struct exec_result){.end = end, .code = (int)request->timeout};
    else if (WIFSIGNALED(status))
        *result = (struct exec_result){.end = EXEC_SIGNALED, .code = WTERMSIG(status)};
    else
        *result = (struct exec_result){.end = EXEC_EXITED, .code = WEXITSTATUS(status)};
    result->peak = (uint64_t)usage.ru_maxrss * 1024;
}

static void reap_left(bool waits)
{
    struct rusage usage;
    int status;

    for (size_t i = 0; i < GROUPS; i++)
        if (atomic_load(&is_left[i]) && (waits || has_ended(atomic_load(&groups[i]))) &&
            atomic_exchange(&is_left[i], false)) {
            reap(atomic_load(&groups[i]), i, &status, &usage);
            atomic_store(&groups[i], GROUP_FREE);
        }
}

void exec_reap_all(void)
{
    reap_left(true);
}

/* Starts the child and notes its group, with signals blocked: otherwise a handler of this thread
 * could run between the two and miss the child. Returns 0, or an errno value. */
static int start_child(pid_t *pid, const struct exec_request *request, size_t place, int output)
{
    sigset_t before = thread_block_signals();
    int error = ECANCELED;

    atomic_store(&is_asked[place], request->is_asked_first);
    atomic_store(&groups[place], GROUP_STARTING);
    /* A handler of another thread has either set this by now, or sees that a child is starting. */
    if (!atomic_load(&stopping))
        error = spawn_child(pid, request, output);
    atomic_store(&groups[place], error ? GROUP_TAKEN : *pid);
    thread_restore_signals(before);
    return error;
}

/* A running child. */
struct exec_child {
    pid_t pid;
    size_t place; /* in the table of groups */
    int output;
};

static void release_child(struct exec_child *child)
{
    if (child->place < GROUPS)
        atomic_store(&groups[child->place], GROUP_FREE);
    free(child);
}

struct exec_child *exec_start(const struct exec_request *request)
{
    struct exec_child *child = malloc(sizeof *child);
    int fds[2], error;

    if (!child)
        return NULL;
    child->place = reserve_group();
    error = child->place < GROUPS ? 0 : EAGAIN;
    if (!error && !capture_pipe(fds))
        error = errno;
    if (!error) {
        error = start_child(&child->pid, request, child->place, fds[1]);
        close(fds[1]);
        child->output = fds[0];
        if (!error)
            return child;
        close(fds[0]);
    }
    release_child(child);
    errno = error;
    return NULL;
}

/* Those that were left before, and are gone, make room in the table. */
static void leave_child(struct exec_child *child)
{
    reap_left(false);
    close(child->output);
    atomic_store(&is_left[child->place], true);
    free(child);
}

void exec_leave(struct exec_child *child)
{
    kill(-child->pid, SIGKILL);
    leave_child(child);
}

/* Takes the report off the output. */
static void take_end_report(struct capture *capture, struct exec_result *result)
{
    struct end_report report;

    capture->size -= sizeof report;
    memcpy(&report, capture->data + capture->size, sizeof report);
    capture->data[capture->size] = '\0';
    *result =
        (struct exec_result){.end = EXEC_EXITED, .code = (int)report.status, .peak = report.peak};
}

void exec_finish(struct exec_child *child, const struct exec_request *request,
                 struct exec_result *result)
{
    struct capture capture = {.limit = request->output_limit};
    enum exec_end end = follow_child(child->pid, child->output, request, &capture);

    if (end == EXEC_EXITED && has_said_end(request, &capture)) {
        take_end_report(&capture, result);
        leave_child(child);
    } else {
        reap_child(child->pid, child->place, request, end, result);
        close(child->output);
        release_child(child);
    }
    result->output = capture.data;
    result->output_size = capture.size;
    result->output_cut = capture.cut;
}

void exec_run(const struct exec_request *request, struct exec_result *result)
{
    struct exec_child *child = NULL;

    errno = ECANCELED;
    if (!exec_is_cancelled(request))
        child = exec_start(request);
    if (child)
        exec_finish(child, request, result);
    else
        *result = (struct exec_result){
            .end = errno == ECANCELED ? EXEC_CANCELLED : EXEC_NOT_STARTED,
            .code = errno == ECANCELED ? 0 : errno,
        };
}

const char *exec_describe_end(const struct exec_result *result, char *text, size_t size)
{
    if (result->end == EXEC_SIGNALED)
        snprintf(text, size, "was killed by signal %d (%s)", result->code, strsignal(result->code));
    else if (result->end == EXEC_NOT_STARTED)
        snprintf(text, size, "could not be run: %s", strerror(result->code));
    else if (result->end == EXEC_CANCELLED)
        snprintf(text, size, "was cancelled");
    else if (result->end == EXEC_TIMED_OUT)
        snprintf(text, size, "was killed, as it took more than %d s (--timeout)", result->code);
    else if (result->code != 0)
        snprintf(text, size, "ended with status %d", result->code);
    else
        return NULL;
    return text;
}
