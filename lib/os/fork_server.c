/* fork_server.c: the linker's side: a table of servers, starting them, and giving them jobs. */
#include "os/fork_server.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "os/internal.h"
#include "os/program.h"

/* The most arguments of a program that is run as a server. */
#define MOST_WORDS 256

/* The most kinds of jobs that are remembered. */
#define MOST_KINDS 16

/* How soon a cancelled job is given up. */
#define TICK_MILLISECONDS 20

const char *const fork_server_files[] = {"FILE 0", "FILE 1", "FILE 2"};

int fork_server_patience = 2000;

struct fork_server {
    XXH128_hash_t kind;       /* of its jobs */
    bool works, fails;        /* what is known of programs of this kind as servers */
    int control;              /* our end of the socket; -1 = none runs */
    struct exec_child *child; /* NULL when it is no child of this process */
};

/* The pipes of a job that is being done; -1 = closed. */
struct job_pipes {
    int answers[2], printed[2];
    struct job_pipes *next;
};

/* Shared by all threads, under the lock, which is held while a program is started, but not while it
 * runs. A fork of this process has the descriptors, too, but does not own the servers, and closes
 * the ends of pipes: a job ends when nobody reads them, and has failed when nobody writes. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    struct fork_server list[MOST_KINDS];
    size_t count; /* of all ever added; the oldest are replaced */
    struct job_pipes *pipes;
} all = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

extern char **environ;

static size_t count_servers(void)
{
    return all.count < MOST_KINDS ? all.count : MOST_KINDS;
}

static void before_fork(void)
{
    pthread_mutex_lock(&all.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pipes(struct job_pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_end(&pipes->answers[i]);
        close_end(&pipes->printed[i]);
    }
}

static void after_fork_in_child(void)
{
    for (struct job_pipes *pipes = all.pipes; pipes; pipes = pipes->next)
        close_pipes(pipes);
    all.pipes = NULL;
    for (size_t i = 0; i < count_servers(); i++) {
        if (all.list[i].control >= 0)
            close(all.list[i].control);
        all.list[i].control = -1;
        all.list[i].child = NULL; /* the parent's */
    }
    pthread_mutex_unlock(&all.lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static void lock_servers(void)
{
    pthread_once(&all.once, watch_forks);
    pthread_mutex_lock(&all.lock);
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

/* Hashes all that a run of the program may differ by. False when it can have no server. */
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

/* Sends a job's descriptors (fork_server.h). */
static bool send_job(int control, const int *descriptors, size_t count)
{
    struct iovec part = {.iov_base = &(char){0}, .iov_len = 1};
    union fork_descriptors sent = {.header = {.cmsg_len = CMSG_LEN(count * sizeof(int)),
                                              .cmsg_level = SOL_SOCKET,
                                              .cmsg_type = SCM_RIGHTS}};
    const struct msghdr message = {.msg_iov = &part,
                                   .msg_iovlen = 1,
                                   .msg_control = sent.bytes,
                                   .msg_controllen = CMSG_SPACE(count * sizeof(int))};

    memcpy(CMSG_DATA(&sent.header), descriptors, count * sizeof(int));
    return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

static void end_server(struct fork_server *server)
{
    if (server->control >= 0)
        close(server->control);
    if (server->child)
        exec_leave(server->child);
    server->control = -1;
    server->child = NULL;
}

void fork_server_end_all(void)
{
    lock_servers();
    for (size_t i = 0; i < count_servers(); i++)
        end_server(&all.list[i]);
    pthread_mutex_unlock(&all.lock);
}

/* NULL for a new kind. */
static struct fork_server *find_server(XXH128_hash_t kind)
{
    for (size_t i = 0; i < count_servers(); i++)
        if (XXH128_isEqual(all.list[i].kind, kind))
            return &all.list[i];
    return NULL;
}

static struct fork_server *add_server(XXH128_hash_t kind, const char *path)
{
    struct fork_server *server = &all.list[all.count % MOST_KINDS];

    if (all.count >= MOST_KINDS)
        end_server(server);
    all.count++;
    *server = (struct fork_server){.kind = kind, .fails = !is_elf(path), .control = -1};
    return server;
}

/* Whether it was killed, or has waited for too long. */
static bool has_left(const struct fork_server *server)
{
    struct pollfd fd = {.fd = server->control};

    return poll(&fd, 1, 0) == 1;
}

/* Starts the program with its end of the socket as standard input. It gets memory files: the first
 * as standard output and error, so that it knows whether it has printed anything, the others as
 * holders of the descriptor numbers of a job's files; the first has the image to preload. */
static struct exec_child *start_program(const struct fork_server_job *job, int control,
                                        const int held[FORK_DESCRIPTORS])
{
    const int held_as[] = {1, 2, held[2], held[3], held[4]}; /* output, errors, the same */
    char preload[48], variable[96], paths[FORK_DESCRIPTORS][32];
    const char *words[MOST_WORDS], *const *argv = job->run.argv;
    size_t count = 0;
    const struct exec_request request = {
        .argv = words,
        .variables = {variable, job->is_preloaded ? preload : NULL},
        .large_pages = job->run.large_pages,
        .fixed_addresses = job->run.fixed_addresses,
        .input = control,
        .pass = held,
        .pass_as = held_as,
        .pass_count = FORK_FIRST_FILE + job->file_count,
    };

    snprintf(preload, sizeof preload, "LD_PRELOAD=/dev/fd/%d", held[FORK_FIRST_FILE]);
    snprintf(variable, sizeof variable, "%s= %d %d", FORK_VARIABLE, fork_server_patience,
             !self_exec_is_program());
    for (size_t i = 0; i < job->file_count; i++) {
        int number = held[FORK_FIRST_FILE + i];

        snprintf(variable + strlen(variable), sizeof variable - strlen(variable), " %d", number);
        snprintf(paths[i], sizeof paths[i], "/dev/fd/%d", number);
    }
    for (; argv[count]; count++) {
        words[count] = argv[count];
        for (size_t i = 0; i < job->file_count; i++)
            if (argv[count] == fork_server_files[i])
                words[count] = paths[i];
    }
    words[count] = NULL;
    return exec_start(&request);
}

static bool start_server(struct fork_server *server, const struct fork_server_job *job)
{
    const size_t count = FORK_FIRST_FILE + job->file_count;
    int ends[2], held[FORK_DESCRIPTORS] = {-1, -1, -1, -1, -1};
    bool ok = true;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        !descriptor_pair_above_standard(ends))
        return false;
    server->control = ends[0];
    for (size_t i = 1; i < count; i++) {
        held[i] = descriptor_memory_file("minilink-fork-server");
        ok = ok && held[i] >= 0;
    }
    held[0] = held[1];
    if (ok && job->is_preloaded)
        ok = descriptor_write(held[FORK_FIRST_FILE], fork_server_image, fork_server_image_size);
    if (ok)
        server->child = start_program(job, ends[1], held);
    for (size_t i = 1; i < count; i++)
        if (held[i] >= 0)
            close(held[i]);
    close(ends[1]);
    if (!server->child)
        end_server(server);
    return server->child != NULL;
}

/* If none of the kind has ever done a job, they are run without servers from now on. */
static void note_failure(struct fork_server *server)
{
    if (server->works)
        return;
    server->fails = true;
    end_server(server);
}

/* Waits until the server is no child of this process. */
static void finish_starter(struct exec_child *starter)
{
    const struct exec_request request = {0};
    struct exec_result result = {0};

    if (starter)
        exec_finish(starter, &request, &result);
    free(result.output);
}

/* Gives a job, unless it has no files, to the server for its kind, which is started if it is not
 * there. False when the job is not to be done by a server. */
static bool give_job(const struct fork_server_job *job, XXH128_hash_t kind, const int *descriptors)
{
    struct exec_child *starter = NULL;
    struct fork_server *server;
    bool ok, is_new;

    lock_servers();
    server = find_server(kind);
    ok = server || job->is_repeated;
    server = server ?: add_server(kind, job->run.argv[0]);
    ok = ok && !server->fails;
    if (ok && server->control >= 0 && has_left(server))
        end_server(server);
    is_new = ok && server->control < 0;
    if (is_new)
        ok = start_server(server, job);
    if (ok && job->files)
        ok = send_job(server->control, descriptors, FORK_FIRST_FILE + job->file_count);
    if (is_new && !self_exec_is_program()) {
        starter = server->child;
        server->child = NULL;
    }
    if (is_new && !ok)
        note_failure(server); /* it has ended already */
    pthread_mutex_unlock(&all.lock);
    finish_starter(starter);
    return ok;
}

static void note_end(XXH128_hash_t kind, bool is_done)
{
    struct fork_server *server;

    lock_servers();
    server = find_server(kind);
    if (server && is_done)
        server->works = true;
    else if (server)
        note_failure(server);
    pthread_mutex_unlock(&all.lock);
}

/* Waits for a job's end. False when there is no answer; *how is EXEC_EXITED when there is one. */
static bool follow_job(const struct exec_request *request, int answers, int printed,
                       struct capture *capture, struct fork_answer *answer, enum exec_end *how)
{
    uint64_t late = clock_now() + (uint64_t)request->timeout * 1000000000u;
    struct pollfd fds[] = {{.fd = answers, .events = POLLIN}, {.fd = printed, .events = POLLIN}};

    while (!fds[0].revents) {
        if (exec_is_cancelled(request))
            *how = EXEC_CANCELLED;
        else if (request->timeout && clock_now() >= late)
            *how = EXEC_TIMED_OUT;
        if (*how != EXEC_EXITED)
            return true;
        poll(fds, 2, TICK_MILLISECONDS); /* a failure is a spurious wake-up */
        if ((fds[0].revents || fds[1].revents) && !capture_read(capture, printed))
            fds[1].fd = -1;
    }
    return read(answers, answer, sizeof *answer) == sizeof *answer;
}

static bool open_pipes(struct job_pipes *pipes)
{
    bool ok;

    lock_servers();
    *pipes = (struct job_pipes){{-1, -1}, {-1, -1}, all.pipes};
    ok = capture_pipe(pipes->answers) && capture_pipe(pipes->printed);
    all.pipes = pipes;
    pthread_mutex_unlock(&all.lock);
    return ok;
}

static void drop_pipes(struct job_pipes *pipes)
{
    struct job_pipes **at = &all.pipes;

    lock_servers();
    while (*at != pipes)
        at = &(*at)->next;
    *at = pipes->next;
    close_pipes(pipes);
    pthread_mutex_unlock(&all.lock);
}

/* Does a job whose answer and output come in these pipes. */
static bool do_job(const struct fork_server_job *job, XXH128_hash_t kind, struct job_pipes *pipes,
                   struct exec_result *result)
{
    int descriptors[FORK_DESCRIPTORS] = {pipes->answers[1], pipes->printed[1]};
    struct capture capture = {.limit = job->run.output_limit};
    struct fork_answer answer = {0};
    enum exec_end how = EXEC_EXITED;
    bool is_given, is_done;

    memcpy(descriptors + FORK_FIRST_FILE, job->files, job->file_count * sizeof(int));
    is_given = give_job(job, kind, descriptors);
    lock_servers();
    close_end(&pipes->answers[1]);
    close_end(&pipes->printed[1]);
    pthread_mutex_unlock(&all.lock);
    is_done = is_given &&
              follow_job(&job->run, pipes->answers[0], pipes->printed[0], &capture, &answer, &how);
    if (is_given && how == EXEC_EXITED)
        note_end(kind, is_done);
    if (!is_done)
        free(capture.data);
    else
        *result = (struct exec_result){
            .end = how,
            .code = how == EXEC_EXITED ? answer.status : (int)job->run.timeout,
            .output = capture.data,
            .output_size = capture.size,
            .output_cut = capture.cut,
            .peak = answer.peak,
        };
    return is_done;
}

bool fork_server_run(const struct fork_server_job *job, struct exec_result *result)
{
    struct job_pipes pipes;
    XXH128_hash_t kind;
    bool is_done;

    if (!find_kind(&kind, job->run.argv))
        return false;
    is_done = open_pipes(&pipes) && do_job(job, kind, &pipes, result);
    drop_pipes(&pipes);
    return is_done;
}

void fork_server_start(const struct fork_server_job *job)
{
    XXH128_hash_t kind;

    if (find_kind(&kind, job->run.argv))
        give_job(job, kind, NULL);
}
