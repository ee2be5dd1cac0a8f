/* fork_server.c: the linker's side: a socket to each server, and those that wait for a job. */
#include "os/fork_server.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/text.h"
#include "os/capture.h"
#include "os/descriptor.h"
#include "os/file_version.h"
#include "os/fork_message.h"
#include "os/fork_server_image.h"

/* Servers that wait at a time, and kinds of jobs that are remembered. */
#define MOST_IDLE  64
#define MOST_KINDS 16

/* Words of a program that is run as a server. */
#define MOST_WORDS 256

/* How soon a cancelled job is given up. */
#define TICK_MILLISECONDS 20

/* How long a server may take to end when it is told to. */
#define END_MILLISECONDS 2000

const char *const fork_server_files[] = {"FILE 0", "FILE 1", "FILE 2"};

int fork_server_patience = 2000;

struct server {
    XXH128_hash_t kind;
    int control;              /* our end of the socket */
    struct exec_child *child; /* NULL when it is not ours */
};

/* What all threads share. Who does not get the lock at once goes without a server: so a process
 * that was forked while another thread held it is not stuck. */
static struct {
    pthread_mutex_t lock;
    pid_t owner; /* a copy of this process has the descriptors, too, but the servers are not its */
    struct server idle[MOST_IDLE];
    size_t idle_count;
    struct {
        XXH128_hash_t kind;
        bool works; /* no server of this kind has failed */
    } kinds[MOST_KINDS];
    size_t kind_count; /* of all that were entered; the oldest make room */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

extern char **environ;

static void add_string(XXH3_state_t *state, const char *string)
{
    XXH3_128bits_update(state, string, strlen(string) + 1);
}

/* A file in its version; of a folder, what is in it does not matter. */
static bool add_file(XXH3_state_t *state, const char *path)
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

/* All that a program that is started now could differ by from one that was started before. False
 * when no server can be started for it. */
static bool find_kind(XXH128_hash_t *kind, const char *const *argv)
{
    const uid_t users[] = {geteuid(), getegid()};
    XXH3_state_t *state = XXH3_createState();
    bool ok = !getenv("LD_PRELOAD") && string_list_count(argv) < MOST_WORDS && state &&
              XXH3_128bits_reset(state) == XXH_OK && add_file(state, argv[0]) &&
              add_file(state, ".");

    if (ok) {
        XXH3_128bits_update(state, users, sizeof users);
        for (size_t i = 0; argv[i]; i++) {
            const char *path = strchr(argv[i], '/');

            add_string(state, argv[i]);
            if (path)
                add_file(state, path); /* "/FILE", "--option=/FILE"; which need not be there */
        }
        for (size_t i = 0; environ && environ[i]; i++)
            add_string(state, environ[i]);
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

/* What was taken over from another process belongs to that one. Under the lock. */
static void forget_another_process(void)
{
    if (all.owner == getpid())
        return;
    for (size_t i = 0; i < all.idle_count; i++)
        close(all.idle[i].control);
    all.idle_count = 0;
    all.owner = getpid();
}

/* Whether a server of the kind may be used; at the first sight the kind is only remembered. Under
 * the lock. */
static bool is_usable(XXH128_hash_t kind, const char *path)
{
    for (size_t i = 0; i < all.kind_count && i < MOST_KINDS; i++)
        if (XXH128_isEqual(all.kinds[i].kind, kind))
            return all.kinds[i].works;
    all.kinds[all.kind_count % MOST_KINDS].kind = kind;
    all.kinds[all.kind_count++ % MOST_KINDS].works = is_elf(path);
    return false;
}

/* Takes one that waits, if there is one, else server->control is -1. False when none may be used.
 */
static bool take(struct server *server, const char *path)
{
    bool ok;

    if (pthread_mutex_trylock(&all.lock))
        return false;
    forget_another_process();
    ok = is_usable(server->kind, path);
    for (size_t i = 0; ok && i < all.idle_count; i++)
        if (XXH128_isEqual(all.idle[i].kind, server->kind)) {
            *server = all.idle[i];
            all.idle[i] = all.idle[--all.idle_count];
            break;
        }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

/* What a server was started for in vain is run plainly from now on. */
static void give_kind_up(XXH128_hash_t kind)
{
    if (pthread_mutex_trylock(&all.lock))
        return;
    for (size_t i = 0; i < all.kind_count && i < MOST_KINDS; i++)
        if (XXH128_isEqual(all.kinds[i].kind, kind))
            all.kinds[i].works = false;
    pthread_mutex_unlock(&all.lock);
}

/* Ends a server and what it does. */
static void end(struct server *server)
{
    const int cancelled = 1;
    const struct exec_request request = {.cancelled = &cancelled};
    struct pollfd fd = {.fd = server->control, .events = 0};
    struct exec_result result;

    shutdown(server->control, SHUT_WR);
    if (server->child) {
        exec_finish(server->child, &request, &result);
        free(result.output);
    } else {
        poll(&fd, 1, END_MILLISECONDS); /* until its end of the socket is closed */
    }
    close(server->control);
}

/* Has it wait for the next job. */
static void keep(struct server *server)
{
    bool is_kept = false;

    if (pthread_mutex_trylock(&all.lock) == 0) {
        is_kept = all.idle_count < MOST_IDLE;
        if (is_kept)
            all.idle[all.idle_count++] = *server;
        pthread_mutex_unlock(&all.lock);
    }
    if (!is_kept)
        end(server);
}

bool fork_server_pays(const char *const *argv)
{
    XXH128_hash_t kind;
    bool pays;

    if (!find_kind(&kind, argv) || pthread_mutex_trylock(&all.lock))
        return false;
    pays = is_usable(kind, argv[0]);
    pthread_mutex_unlock(&all.lock);
    return pays;
}

void fork_server_end_all(void)
{
    struct server server;

    pthread_mutex_lock(&all.lock);
    forget_another_process();
    while (all.idle_count > 0) {
        server = all.idle[--all.idle_count];
        pthread_mutex_unlock(&all.lock);
        end(&server);
        pthread_mutex_lock(&all.lock);
    }
    pthread_mutex_unlock(&all.lock);
}

/* What is sent along with a request: the end for messages, and the files. */
union descriptors {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE((1 + FORK_FILES) * sizeof(int))];
};

static bool ask(const struct server *server, unsigned char request, const int *descriptors,
                size_t count)
{
    struct iovec part = {.iov_base = &request, .iov_len = 1};
    union descriptors control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)),
                                          .cmsg_level = SOL_SOCKET,
                                          .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), descriptors, count * sizeof(int));
    }
    return sendmsg(server->control, &message, MSG_NOSIGNAL) == 1;
}

/* Which of the words that stand for files it is; FORK_FILES = none. */
static size_t file_of(const char *word)
{
    size_t file = 0;

    while (file < FORK_FILES && word != fork_server_files[file])
        file++;
    return file;
}

/* Starts the program, with our end of the socket as its input, where the numbers of its files are
 * held by others. The first of these is the image to preload. */
static bool start_program(struct server *server, const struct fork_server_job *job, int control,
                          const int numbers[FORK_FILES])
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
    for (; argv[count]; count++)
        words[count] =
            file_of(argv[count]) < FORK_FILES ? paths[file_of(argv[count])] : argv[count];
    words[count] = NULL;
    server->child = exec_start(&request);
    return server->child != NULL;
}

/* It comes away from this process, whose child then ends. False when it did not, or has printed
 * something on its way. */
static bool detach(struct server *server)
{
    const struct exec_request request = {.output_limit = 1};
    struct exec_result result;
    struct exec_child *child = server->child;

    server->child = NULL;
    if (!ask(server, FORK_DETACH, NULL, 0))
        shutdown(server->control, SHUT_WR);
    exec_finish(child, &request, &result);
    free(result.output);
    return result.end == EXEC_EXITED && result.code == 0 && result.output_size == 0;
}

/* Files in memory that hold the numbers of a job's files. */
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

static bool start(struct server *server, const struct fork_server_job *job)
{
    int ends[2] = {-1, -1}, numbers[FORK_FILES] = {-1, -1, -1};
    bool ok = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;

    for (size_t i = 0; ok && i < 2; i++) {
        ends[i] = descriptor_above_standard(ends[i]);
        ok = ends[i] >= 0;
    }
    ok = ok && hold_numbers(numbers, job) && start_program(server, job, ends[1], numbers);
    for (size_t i = 0; i < FORK_FILES; i++)
        if (numbers[i] >= 0)
            close(numbers[i]);
    if (ends[1] >= 0)
        close(ends[1]);
    server->control = ends[0];
    if (!ok && ends[0] >= 0)
        close(ends[0]);
    if (!ok || exec_is_own_program() || detach(server))
        return ok;
    end(server);
    return false;
}

/* Follows a job to its end. False when the server has ended; EXEC_EXITED when there is an answer.
 */
static bool follow(const struct server *server, const struct exec_request *request, int printed,
                   struct capture *capture, struct fork_answer *answer, enum exec_end *how)
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
        return recv(server->control, answer, sizeof *answer, 0) == sizeof *answer;
    }
}

/* One job. False when the server has ended, or the copy was killed, or what the program prints
 * before it opens its input is not among what the copy has printed. */
static bool do_job(struct server *server, const struct fork_server_job *job,
                   struct exec_result *result)
{
    const struct exec_request *request = &job->run;
    struct capture capture = {.limit = request->output_limit};
    struct fork_answer answer = {0};
    enum exec_end how = EXEC_EXITED;
    int printed[2], descriptors[1 + FORK_FILES];
    bool ok;

    if (!capture_pipe(printed)) {
        end(server);
        return false;
    }
    descriptors[0] = printed[1];
    memcpy(descriptors + 1, job->files, job->file_count * sizeof(int));
    ok = ask(server, FORK_JOB, descriptors, 1 + job->file_count);
    close(printed[1]);
    ok = ok && follow(server, request, printed[0], &capture, &answer, &how) &&
         !(server->child && exec_has_printed(server->child));
    close(printed[0]);
    ok = ok && (how != EXEC_EXITED || WIFEXITED(answer.status));
    if (ok && how == EXEC_EXITED)
        keep(server);
    else
        end(server);
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
    struct server server = {.control = -1};
    bool is_new;

    if (!find_kind(&server.kind, job->run.argv) || !take(&server, job->run.argv[0]))
        return false;
    is_new = server.control < 0;
    if ((!is_new || start(&server, job)) && do_job(&server, job, result))
        return true;
    if (is_new)
        give_kind_up(server.kind);
    return false;
}
