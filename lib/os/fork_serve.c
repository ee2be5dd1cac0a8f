/* fork_serve.c: waits for jobs on standard input. If anything is unusual the process ends, and
 * minilink runs the program without a server. */
#include "os/fork_serve.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How soon the end of a job is seen where there is no pidfd. */
#define TICK_MILLISECONDS 20

/* So large a text segment, of the program or of a library, gets large pages after a job for each 4
 * MiB of it. For ptxas that takes 10 ms and saves each copy 2 ms (13.0, measured); libnvJitLink's
 * has 86 MiB, and a copy of it takes 11 % less processor time (13.5, measured). */
#define LARGE_TEXT  (8u << 20)
#define TEXT_OF_JOB (4u << 20)
#define LARGE_PAGE  (2u << 20)

/* In a copy, which does a job and is no server: the process, a duplicate of the socket, and the
 * number of the job. */
static struct {
    pid_t process; /* 0 = this is no copy */
    int socket;
    uint32_t job;
} own;

/* The number with this index in FORK_VARIABLE; -1 = none. */
static int descriptor_number(int index)
{
    const char *numbers = getenv(FORK_VARIABLE);

    for (int i = 0; numbers && i < index; i++)
        numbers = strchr(numbers + 1, ' ');
    return numbers && *numbers ? (int)strtol(numbers, NULL, 10) : -1;
}

int fork_serve_number(int file)
{
    return own.process ? -1 : descriptor_number(1 + file);
}

/* Reads a request and its descriptors: `count` for a job, one for a clone. False at the end of the
 * socket. */
static bool receive_message(struct fork_message *asked, int *descriptors, int count)
{
    struct iovec part = {.iov_base = asked, .iov_len = sizeof *asked};
    union fork_descriptors control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *header;

    if (recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC) != sizeof *asked)
        return false;
    if (asked->request == FORK_DETACH)
        return true;
    count = asked->request == FORK_JOB ? count : 1;
    header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_len != CMSG_LEN((size_t)count * sizeof(int)))
        return false;
    memcpy(descriptors, CMSG_DATA(header), (size_t)count * sizeof(int));
    return asked->request == FORK_JOB || asked->request == FORK_CLONE;
}

/* Waits for a request or the end of the socket. False when the time is up. */
static bool is_asked(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&fd, 1, descriptor_number(0)) == 1;
}

/* Forks a clone of this server, which serves `socket`: in a group of its own, since it may outlive
 * this one's. True in the clone. */
static bool clone_for(int socket)
{
    pid_t clone = fork();

    if (clone == 0 && (setpgid(0, 0) || dup2(socket, STDIN_FILENO) < 0))
        _exit(255);
    close(socket);
    return clone == 0;
}

/* In the copy: takes the job's descriptors, and arranges to be killed when the server ends. */
static void take_job_descriptors(uint32_t job, const int *descriptors, int count, pid_t server)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    bool ok = nothing >= 0 && socket >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(descriptors[0], STDOUT_FILENO) >= 0 && dup2(descriptors[0], STDERR_FILENO) >= 0;

    for (int i = 1; ok && i < count; i++)
        ok = dup2(descriptors[i], fork_serve_number(i - 1)) >= 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!ok || getppid() != server)
        _exit(255);
    own.process = getpid();
    own.socket = socket;
    own.job = job;
}

/* While a job runs: kills its copy at the end of the socket, when its result is no longer wanted,
 * and for the next job, when the copy has answered and need not be waited for. True then, and in a
 * clone. */
static bool look_at_socket(struct pollfd *socket, pid_t copy)
{
    struct fork_message next = {0};
    int descriptors[1 + FORK_FILES];

    if (!socket->revents)
        return false;
    recv(STDIN_FILENO, &next, sizeof next, MSG_PEEK);
    if (next.request == FORK_CLONE && receive_message(&next, descriptors, 1))
        return clone_for(descriptors[0]);
    kill(copy, SIGKILL);
    socket->fd = -1;
    return next.request == FORK_JOB;
}

/* Waits for the copy's end. False in a clone, which is not the copy's parent, and if the copy has
 * answered and the next job is there. */
static bool wait_for(pid_t pid, struct fork_answer *answer)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    struct rusage usage = {0};
    pid_t ended;

    while ((ended = wait4(pid, &status, WNOHANG, &usage)) == 0) {
        poll(fds, 2, pidfd < 0 ? TICK_MILLISECONDS : -1);
        if (look_at_socket(&fds[0], pid))
            break;
    }
    if (pidfd >= 0)
        close(pidfd);
    if (ended == 0)
        return false;
    if (ended != pid)
        _exit(255);
    answer->status = status;
    answer->peak = (uint64_t)usage.ru_maxrss * 1024;
    return true;
}

/* Returns in the copy, and in every server. */
static void run_job_in_copy(uint32_t job, const int *descriptors, int count)
{
    struct fork_answer answer = {.job = job};
    pid_t server = getpid(), copy = fork();

    if (copy == 0) {
        take_job_descriptors(job, descriptors, count, server);
        return;
    }
    for (int i = 0; i < count; i++)
        close(descriptors[i]);
    if (copy < 0)
        _exit(255);
    if (wait_for(copy, &answer) &&
        send(STDIN_FILENO, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
        _exit(0);
}

/* Continues in a new process with a group of its own: what is left of the first one's group is
 * killed at its end. */
static void detach_from_starter(void)
{
    pid_t copy = fork();

    if (copy == 0)
        return;
    if (copy > 0)
        setpgid(copy, copy);
    _exit(copy > 0 ? 0 : 255);
}

/* Replaces the text by an anonymous copy of it. A fork finds pages of a file one by one, each by a
 * fault, but not anonymous ones. */
static void enlarge_pages(uintptr_t text, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), head = text % page, length, room;
    uintptr_t start = text - head, to;
    void *area;

    length = (size + head + page - 1) / page * page;
    room = length + 2 * LARGE_PAGE;
    area = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return;
    to = ((uintptr_t)area + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE + start % LARGE_PAGE;
    madvise(area, room, MADV_HUGEPAGE);
    memcpy((void *)to, (const void *)start, length);
    if (mprotect((void *)to, length, PROT_READ | PROT_EXEC) == 0)
        mremap((void *)to, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start);
}

static int enlarge_text(struct dl_phdr_info *program, size_t size, void *jobs)
{
    (void)size;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags == (PF_R | PF_X) &&
            part->p_memsz >= LARGE_TEXT && part->p_memsz / TEXT_OF_JOB == *(const unsigned *)jobs)
            enlarge_pages(program->dlpi_addr + part->p_vaddr, part->p_memsz);
    }
    return 0;
}

void fork_serve(void)
{
    int descriptors[1 + FORK_FILES], count = 1;
    unsigned jobs = 0;
    struct fork_message asked;
    struct stat status;

    while (count <= FORK_FILES && fork_serve_number(count - 1) >= 0)
        count++;
    if (stat("/proc/self/task", &status) != 0 || status.st_nlink != 3)
        _exit(255); /* there are threads, of which a copy (fork) has only the calling one */
    while (!own.process) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ; /* clones that have ended, and copies that have answered */
        if (!is_asked() || !receive_message(&asked, descriptors, count))
            _exit(0);
        if (asked.request == FORK_JOB) {
            dl_iterate_phdr(enlarge_text, &(unsigned){jobs++});
            run_job_in_copy(asked.job, descriptors, count);
        } else if (asked.request == FORK_CLONE)
            clone_for(descriptors[0]);
        else
            detach_from_starter();
    }
}

void fork_serve_if_wanted(void)
{
    if (fork_serve_number(0) >= 0)
        fork_serve();
}

void fork_serve_end(int status)
{
    struct fork_answer answer = {.job = own.job, .status = (status & 0xff) << 8};
    struct rusage usage = {0};

    if (own.process != getpid())
        return;
    getrusage(RUSAGE_SELF, &usage);
    answer.peak = (uint64_t)usage.ru_maxrss * 1024;
    send(own.socket, &answer, sizeof answer, MSG_NOSIGNAL);
    _exit(status);
}
