/* fork_server.c: the linker's side: tables of idle servers, busy servers and kinds of jobs;
 * starting servers, and giving them jobs. */
#include "os/fork_server.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/text.h"
#include "os/descriptor.h"
#include "os/file.h"
#include "os/fork_serve.h"
#include "os/self_exec.h"

/* The most arguments of a program that is run as a server. */
#define MOST_WORDS 256

/* The most idle servers, listed busy servers, and remembered kinds of jobs. */
#define MOST_IDLE  64
#define MOST_BUSY  64
#define MOST_KINDS 16

/* How soon a cancelled job is given up. */
#define TICK_MILLISECONDS 20

/* How long a server may take to end when it is told to. */
#define END_MILLISECONDS 2000

/* How long a thread waits for the lock. */
#define LOCK_SECONDS 1

const char *const fork_server_files[] = {"FILE 0", "FILE 1", "FILE 2"};

int fork_server_patience = 2000;

struct fork_server {
    XXH128_hash_t kind;       /* of its jobs */
    int control;              /* our end of the socket; -1 = there is none yet */
    struct exec_child *child; /* NULL when it is no child of this process */
    bool has_worked;          /* it, or the server that it is a clone of, has done a job */
    uint32_t jobs;            /* that it was asked to do */
};

/* Shared by all threads. The lock is held for microseconds. A thread that does not get it does
 * without a server, so that a process that was forked while another thread held it is not stuck. */
static struct {
    pthread_mutex_t lock;
    pid_t owner; /* a fork of this process has the descriptors, too, but does not own the servers */
    struct fork_server idle[MOST_IDLE], busy[MOST_BUSY];
    size_t idle_count, busy_count;
    struct {
        XXH128_hash_t kind;
        bool works; /* no server of this kind has failed */
    } kinds[MOST_KINDS];
    size_t kind_count; /* of all ever added; the oldest are replaced */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

extern char **environ;

static bool lock_servers(void)
{
    struct timespec late;

    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += LOCK_SECONDS;
    return pthread_mutex_timedlock(&all.lock, &late) == 0;
}

static void hash_string(XXH3_state_t *state, const char *string)
{
    XXH3_128bits_update(state, string, strlen(string) + 1);
}

/* Hashes the version of a file; of a folder only the identity, since its contents do not matter. */
static bool hash_file(XXH3_state_t *state, const char *path)
{
    struct file_version version;
    struct stat status;

    if (stat(path, &status))
        return false;
    version = file_version_of(&status);
    if (S_ISDIR(status.st_mode))
        version = (struct file_version){.device = version.device, .inode = version.inode};
    XXH3_128bits_update(state, &version, sizeof version);
    return true;
}

/* Hashes all that a run of the program now could differ in from one before. False when no server
 * can be started for it. */
static bool find_kind(XXH128_hash_t *kind, const char *const *argv)
{
    const uid_t users[] = {geteuid(), getegid()};
    XXH3_state_t *state = XXH3_createState();
    bool ok = !getenv("LD_PRELOAD") && string_list_count(argv) < MOST_WORDS && state &&
              XXH3_128bits_reset(state) == XXH_OK && hash_file(state, argv[0]) &&
              hash_file(state, ".");

    if (ok) {
        XXH3_128bits_update(state, users, sizeof users);
        for (size_t i = 0; argv[i]; i++) {
            const char *path = strchr(argv[i], '/');

            hash_string(state, argv[i]);
            if (path)
                hash_file(state, path); /* "/FILE", "--option=/FILE"; it need not exist */
        }
        for (size_t i = 0; environ && environ[i]; i++)
            hash_string(state, environ[i]);
        *kind = XXH3_128bits_digest(state);
    }
    XXH3_freeState(state);
    return ok;
}

/* A script runs another program, and may do more than that. */
static bool is_elf(const char *path)
{
    char magic[SELFMAG];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && descriptor_read(fd, magic, sizeof magic, 0) &&
              memcmp(magic, ELFMAG, SELFMAG) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

/* After a fork, drops the servers, which belong to the parent. Under the lock. */
static void forget_another_process(void)
{
    if (all.owner == getpid())
        return;
    for (size_t i = 0; i < all.idle_count; i++)
        close(all.idle[i].control);
    for (size_t i = 0; i < all.busy_count; i++)
        close(all.busy[i].control);
    all.idle_count = all.busy_count = 0;
    all.owner = getpid();
}

/* Sends a request (fork_serve.h) with descriptors. False with errno. */
static bool ask_server(int control, struct fork_message asked, const int *descriptors, size_t count)
{
    struct iovec part = {.iov_base = &asked, .iov_len = sizeof asked};
    union fork_descriptors sent = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        message.msg_control = sent.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        sent.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)),
                                       .cmsg_level = SOL_SOCKET,
                                       .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&sent.header), descriptors, count * sizeof(int));
    }
    return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof asked;
}

/* A socket pair that keeps message boundaries; its ends are no standard descriptors. False with
 * errno. */
static bool make_socket(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
           descriptor_pair_above_standard(ends);
}

/* Whether a server of the kind may be used; a new kind is only remembered, unless `is_repeated`.
 * Under the lock. */
static bool is_usable(XXH128_hash_t kind, const char *path, bool is_repeated)
{
    bool works;

    for (size_t i = 0; i < all.kind_count && i < MOST_KINDS; i++)
        if (XXH128_isEqual(all.kinds[i].kind, kind))
            return all.kinds[i].works;
    works = is_elf(path);
    all.kinds[all.kind_count % MOST_KINDS].kind = kind;
    all.kinds[all.kind_count++ % MOST_KINDS].works = works;
    return works && is_repeated;
}

/* Takes an idle server. Under the lock. */
static bool take_idle(struct fork_server *server)
{
    for (size_t i = 0; i < all.idle_count; i++)
        if (XXH128_isEqual(all.idle[i].kind, server->kind)) {
            *server = all.idle[i];
            all.idle[i] = all.idle[--all.idle_count];
            return true;
        }
    return false;
}

/* Asks a busy server for a clone. Under the lock, so that the server is not ended meanwhile. */
static void take_clone(struct fork_server *server)
{
    int ends[2];
    size_t i = 0;

    while (i < all.busy_count && !XXH128_isEqual(all.busy[i].kind, server->kind))
        i++;
    if (i == all.busy_count || !make_socket(ends))
        return;
    if (ask_server(all.busy[i].control, (struct fork_message){.request = FORK_CLONE}, &ends[1], 1))
        *server =
            (struct fork_server){.kind = server->kind, .control = ends[0], .has_worked = true};
    else
        close(ends[0]);
    close(ends[1]);
}

/* Takes a server for a job, until give_back(): an idle one, else a clone of a busy one; else
 * server->control is -1 and one may be started. False when none may be used. */
static bool take_server_job(struct fork_server *server, const struct fork_server_job *job)
{
    bool ok;

    server->control = -1;
    if (!find_kind(&server->kind, job->run.argv) || !lock_servers())
        return false;
    forget_another_process();
    ok = is_usable(server->kind, job->run.argv[0], job->is_repeated);
    if (ok && !take_idle(server))
        take_clone(server);
    /* So that it can be asked for a clone; only if it has done a job before. */
    if (server->has_worked && all.busy_count < MOST_BUSY)
        all.busy[all.busy_count++] = *server;
    pthread_mutex_unlock(&all.lock);
    return ok;
}

/* Makes the server idle if it can do more jobs. False when it cannot, or when there are too many.
 */
static bool give_back(struct fork_server *server, bool works)
{
    bool is_kept;

    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.busy_count; i++)
        if (all.busy[i].control == server->control) {
            all.busy[i] = all.busy[--all.busy_count];
            break;
        }
    is_kept = works && all.idle_count < MOST_IDLE;
    if (is_kept)
        all.idle[all.idle_count++] = *server;
    pthread_mutex_unlock(&all.lock);
    return is_kept;
}

/* Runs this kind without servers from now on, since one failed. */
static void give_up_kind(XXH128_hash_t kind)
{
    if (!lock_servers())
        return;
    for (size_t i = 0; i < all.kind_count && i < MOST_KINDS; i++)
        if (XXH128_isEqual(all.kinds[i].kind, kind))
            all.kinds[i].works = false;
    pthread_mutex_unlock(&all.lock);
}

static void end_server(struct fork_server *server)
{
    struct pollfd fd = {.fd = server->control, .events = 0};

    shutdown(server->control, SHUT_WR);
    if (server->child)
        exec_leave(server->child);
    else
        poll(&fd, 1, END_MILLISECONDS); /* until its end of the socket is closed */
    close(server->control);
}

void fork_server_end_all(void)
{
    struct fork_server servers[MOST_IDLE];
    size_t count;

    pthread_mutex_lock(&all.lock);
    forget_another_process();
    count = all.idle_count;
    memcpy(servers, all.idle, count * sizeof *servers);
    all.idle_count = 0;
    pthread_mutex_unlock(&all.lock);
    for (size_t i = 0; i < count; i++)
        shutdown(servers[i].control, SHUT_WR); /* so that all end at the same time */
    for (size_t i = 0; i < count; i++)
        end_server(&servers[i]);
}

/* Starts the program with its end of the socket as standard input. Memory files hold the descriptor
 * numbers of the job's files; the first contains the image to preload. */
static bool start_program(struct fork_server *server, const struct fork_server_job *job,
                          int control, const int numbers[FORK_FILES])
{
    char preload[48], variable[96], paths[FORK_FILES][32];
    const char *words[MOST_WORDS], *const *argv = job->run.argv;
    size_t count = 0;
    const struct exec_request request = {
        .argv = words,
        .variables = {variable, job->is_preloaded ? preload : NULL},
        .large_pages = job->run.large_pages,
        .fixed_addresses = job->run.fixed_addresses,
        .input = control,
        .pass = numbers,
        .pass_count = job->file_count,
        .output_limit = 1,
    };

    snprintf(preload, sizeof preload, "LD_PRELOAD=/dev/fd/%d", numbers[0]);
    snprintf(variable, sizeof variable, "%s= %d", FORK_VARIABLE, fork_server_patience);
    for (size_t i = 0; i < job->file_count; i++) {
        snprintf(variable + strlen(variable), sizeof variable - strlen(variable), " %d",
                 numbers[i]);
        snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", numbers[i]);
    }
    for (; argv[count]; count++) {
        words[count] = argv[count];
        for (size_t i = 0; i < job->file_count; i++)
            if (argv[count] == fork_server_files[i])
                words[count] = paths[i];
    }
    words[count] = NULL;
    server->child = exec_start(&request);
    return server->child != NULL;
}

/* Makes the server no child of this process; the child that was started ends. False when that
 * failed, or when the child has printed anything. */
static bool detach_server(struct fork_server *server)
{
    const struct exec_request request = {.output_limit = 1};
    struct exec_result result;
    struct exec_child *child = server->child;

    server->child = NULL;
    if (!ask_server(server->control, (struct fork_message){.request = FORK_DETACH}, NULL, 0))
        shutdown(server->control, SHUT_WR);
    exec_finish(child, &request, &result);
    free(result.output);
    return result.end == EXEC_EXITED && result.code == 0 && result.output_size == 0;
}

/* Makes memory files that hold the descriptor numbers of a job's files. */
static bool hold_numbers(int numbers[FORK_FILES], const struct fork_server_job *job)
{
    for (size_t i = 0; i < job->file_count; i++) {
        numbers[i] = descriptor_memory_file("minilink-fork-server");
        if (numbers[i] < 0)
            return false;
    }
    return !job->is_preloaded ||
           descriptor_write(numbers[0], fork_server_image, fork_server_image_size);
}

static bool start_server_job(struct fork_server *server, const struct fork_server_job *job)
{
    int ends[2], numbers[FORK_FILES] = {-1, -1, -1};
    bool ok;

    if (!make_socket(ends))
        return false;
    ok = hold_numbers(numbers, job) && start_program(server, job, ends[1], numbers);
    for (size_t i = 0; i < FORK_FILES; i++)
        if (numbers[i] >= 0)
            close(numbers[i]);
    close(ends[1]);
    server->control = ends[0];
    if (!ok)
        close(ends[0]);
    if (!ok || self_exec_is_program() || detach_server(server))
        return ok;
    end_server(server);
    return false;
}

/* Waits for a job's end. False when the server has ended; *how is EXEC_EXITED when there is an
 * answer. */
static bool follow_job(const struct fork_server *server, const struct exec_request *request,
                       int printed, struct capture *capture, struct fork_answer *answer,
                       enum exec_end *how)
{
    uint64_t late = clock_now() + (uint64_t)request->timeout * 1000000000u;
    bool is_open = true;

    for (*how = EXEC_EXITED;;) {
        struct pollfd fds[] = {{.fd = server->control, .events = POLLIN},
                               {.fd = is_open ? printed : -1, .events = POLLIN}};

        if (exec_is_cancelled(request))
            *how = EXEC_CANCELLED;
        else if (request->timeout && clock_now() >= late)
            *how = EXEC_TIMED_OUT;
        if (*how != EXEC_EXITED)
            return true;
        poll(fds, 2, TICK_MILLISECONDS); /* a failure is a spurious wake-up */
        if (fds[1].revents)
            is_open = capture_read(capture, printed);
        if (!fds[0].revents)
            continue;
        if (is_open)
            capture_read(capture, printed);
        if (recv(server->control, answer, sizeof *answer, 0) != sizeof *answer)
            return false;
        if (answer->job == server->jobs)
            return true;
    }
}

/* Does one job. False when the server has ended, when the copy was killed, or when the program has
 * printed something before it opened its input, which the copy's output lacks. */
static bool ask_for_job(struct fork_server *server, const struct fork_server_job *job,
                        struct exec_result *result)
{
    const struct exec_request *request = &job->run;
    struct capture capture = {.limit = request->output_limit};
    struct fork_answer answer = {0};
    enum exec_end how = EXEC_EXITED;
    int printed[2], descriptors[1 + FORK_FILES];
    bool ok;

    if (!capture_pipe(printed)) {
        give_back(server, false);
        end_server(server);
        return false;
    }
    server->has_worked = true;
    descriptors[0] = printed[1];
    memcpy(descriptors + 1, job->files, job->file_count * sizeof(int));
    server->jobs++;
    ok = ask_server(server->control, (struct fork_message){FORK_JOB, server->jobs}, descriptors,
                    1 + job->file_count);
    close(printed[1]);
    ok = ok && follow_job(server, request, printed[0], &capture, &answer, &how) &&
         !(server->child && exec_has_printed(server->child));
    close(printed[0]);
    ok = ok && (how != EXEC_EXITED || WIFEXITED(answer.status));
    if (!give_back(server, ok && how == EXEC_EXITED))
        end_server(server);
    if (!ok) {
        free(capture.data);
        return false;
    }
    *result = (struct exec_result){
        .end = how,
        .code = how == EXEC_EXITED ? WEXITSTATUS(answer.status) : (int)request->timeout,
        .output = capture.data,
        .output_size = capture.size,
        .output_cut = capture.cut,
        .peak = answer.peak,
    };
    return true;
}

bool fork_server_run(const struct fork_server_job *job, struct exec_result *result)
{
    struct fork_server server = {0};
    bool is_new;

    if (!take_server_job(&server, job))
        return false;
    is_new = server.control < 0;
    if ((!is_new || start_server_job(&server, job)) && ask_for_job(&server, job, result))
        return true;
    if (is_new) /* another may have waited for too long */
        give_up_kind(server.kind);
    return false;
}

void fork_server_start(const struct fork_server_job *job)
{
    struct fork_server server = {0};

    if (!take_server_job(&server, job))
        return;
    if ((server.control >= 0 || start_server_job(&server, job)) && !give_back(&server, true))
        end_server(&server);
}
