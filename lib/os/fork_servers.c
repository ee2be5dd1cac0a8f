/* fork_servers.c: servers that wait for a job, those that work, and kinds of jobs. */
#include "os/fork_servers.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/descriptor.h"
#include "os/file.h"
#include "os/fork_serve.h"

/* Servers that wait at a time, that work and are known, and kinds of jobs that are remembered. */
#define MOST_IDLE  64
#define MOST_BUSY  64
#define MOST_KINDS 16

/* What all threads share. Who does not get the lock at once goes without a server: so a process
 * that was forked while another thread held it is not stuck. */
static struct {
    pthread_mutex_t lock;
    pid_t owner; /* a copy of this process has the descriptors, too, but the servers are not its */
    struct fork_server idle[MOST_IDLE], busy[MOST_BUSY];
    size_t idle_count, busy_count;
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
    bool ok = !getenv("LD_PRELOAD") && string_list_count(argv) < FORK_MOST_WORDS && state &&
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
    for (size_t i = 0; i < all.busy_count; i++)
        close(all.busy[i].control);
    all.idle_count = all.busy_count = 0;
    all.owner = getpid();
}

/* What is sent along with a request: the end for messages, and the files. */
union descriptors {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE((1 + FORK_FILES) * sizeof(int))];
};

bool fork_servers_ask(int control, unsigned char request, const int *descriptors, size_t count)
{
    struct iovec part = {.iov_base = &request, .iov_len = 1};
    union descriptors sent = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        message.msg_control = sent.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        sent.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)),
                                       .cmsg_level = SOL_SOCKET,
                                       .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&sent.header), descriptors, count * sizeof(int));
    }
    return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

bool fork_servers_socket(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
           descriptor_pair_above_standard(ends);
}

/* Whether a server of the kind may be used; at the first sight the kind is only remembered, unless
 * `is_repeated`. Under the lock. */
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

/* Takes one that waits. Under the lock. */
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

/* Has one that works leave another behind. Under the lock, so that it is not ended meanwhile. */
static void take_clone(struct fork_server *server)
{
    int ends[2];
    size_t i = 0;

    while (i < all.busy_count && !XXH128_isEqual(all.busy[i].kind, server->kind))
        i++;
    if (i == all.busy_count || !fork_servers_socket(ends))
        return;
    if (fork_servers_ask(all.busy[i].control, FORK_CLONE, &ends[1], 1))
        *server =
            (struct fork_server){.kind = server->kind, .control = ends[0], .has_worked = true};
    else
        close(ends[0]);
    close(ends[1]);
}

bool fork_servers_take(struct fork_server *server, const struct fork_server_job *job)
{
    bool ok;

    server->control = -1;
    if (!find_kind(&server->kind, job->run.argv) || pthread_mutex_trylock(&all.lock))
        return false;
    forget_another_process();
    ok = is_usable(server->kind, job->run.argv[0], job->is_repeated);
    if (ok && !take_idle(server))
        take_clone(server);
    pthread_mutex_unlock(&all.lock);
    return ok;
}

void fork_servers_begin_job(const struct fork_server *server)
{
    if (!server->has_worked || pthread_mutex_trylock(&all.lock))
        return;
    if (all.busy_count < MOST_BUSY)
        all.busy[all.busy_count++] = *server;
    pthread_mutex_unlock(&all.lock);
}

void fork_servers_end_job(const struct fork_server *server)
{
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.busy_count; i++)
        if (all.busy[i].control == server->control) {
            all.busy[i] = all.busy[--all.busy_count];
            break;
        }
    pthread_mutex_unlock(&all.lock);
}

void fork_servers_give_up(XXH128_hash_t kind)
{
    if (pthread_mutex_trylock(&all.lock))
        return;
    for (size_t i = 0; i < all.kind_count && i < MOST_KINDS; i++)
        if (XXH128_isEqual(all.kinds[i].kind, kind))
            all.kinds[i].works = false;
    pthread_mutex_unlock(&all.lock);
}

bool fork_servers_keep(const struct fork_server *server)
{
    bool is_kept = false;

    if (pthread_mutex_trylock(&all.lock) == 0) {
        is_kept = all.idle_count < MOST_IDLE;
        if (is_kept)
            all.idle[all.idle_count++] = *server;
        pthread_mutex_unlock(&all.lock);
    }
    return is_kept;
}

bool fork_servers_take_any(struct fork_server *server)
{
    bool is_any;

    pthread_mutex_lock(&all.lock);
    forget_another_process();
    is_any = all.idle_count > 0;
    if (is_any)
        *server = all.idle[--all.idle_count];
    pthread_mutex_unlock(&all.lock);
    return is_any;
}

void fork_servers_shut_down(void)
{
    pthread_mutex_lock(&all.lock);
    forget_another_process();
    for (size_t i = 0; i < all.idle_count; i++)
        shutdown(all.idle[i].control, SHUT_WR);
    pthread_mutex_unlock(&all.lock);
}

bool fork_server_pays(const char *const *argv)
{
    XXH128_hash_t kind;
    bool pays;

    if (!find_kind(&kind, argv) || pthread_mutex_trylock(&all.lock))
        return false;
    pays = is_usable(kind, argv[0], false);
    pthread_mutex_unlock(&all.lock);
    return pays;
}
