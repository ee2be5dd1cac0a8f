/* fork_serve.c: waits for jobs on standard input. If anything is unusual the process ends, and
 * minilink runs the program without a server. */
#include "os/fork_server.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* So large a text segment, of the program or of a library, gets large pages after a job for each 4
 * MiB of it. For ptxas that takes 10 ms and saves each copy 2 ms (13.0, measured); libnvJitLink's
 * has 86 MiB, and a copy of it takes 11 % less processor time (13.5, measured). */
#define LARGE_TEXT  (8u << 20)
#define TEXT_OF_JOB (4u << 20)
#define LARGE_PAGE  (2u << 20)

/* In a copy, which does a job and is no server. */
static struct {
    pid_t process; /* 0 = this is no copy */
    int answer;
} own;

/* The number with this index in FORK_VARIABLE; -1 = none. */
static int number_in_variable(int index)
{
    const char *numbers = getenv(FORK_VARIABLE);

    for (int i = 0; numbers && i < index; i++)
        numbers = strchr(numbers + 1, ' ');
    return numbers && *numbers ? (int)strtol(numbers, NULL, 10) : -1;
}

int fork_serve_number(int file)
{
    return own.process ? -1 : number_in_variable(2 + file);
}

/* Waits for a job or the end of the socket. False when none came in time, and none is done. */
static bool is_asked(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready;
    pid_t ended;

    do {
        ready = poll(&fd, 1, number_in_variable(0));
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
    } while (ready == 0 && ended == 0);
    return ready == 1;
}

/* Receives a job's descriptors. False at the end of the socket. */
static bool receive_job(int *descriptors, int count)
{
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = sizeof byte};
    union fork_descriptors control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *header;

    if (recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC) != sizeof byte)
        return false;
    header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_len != CMSG_LEN((size_t)count * sizeof(int)))
        return false;
    memcpy(descriptors, CMSG_DATA(header), (size_t)count * sizeof(int));
    return true;
}

/* Arranges that the kernel kills this process when nobody can read from the pipe any more. False
 * when that is so already, or not possible. */
static bool end_with_reader(int pipe)
{
    struct pollfd fd = {.fd = pipe};

    return fcntl(pipe, F_SETOWN, getpid()) == 0 && fcntl(pipe, F_SETSIG, SIGKILL) == 0 &&
           fcntl(pipe, F_SETFL, O_ASYNC) == 0 && poll(&fd, 1, 0) == 0;
}

/* In the copy. */
static void take_job(const int *descriptors, int count)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ok = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(descriptors[FORK_OUTPUT], STDOUT_FILENO) >= 0 &&
              dup2(descriptors[FORK_OUTPUT], STDERR_FILENO) >= 0;

    for (int i = FORK_FIRST_FILE; ok && i < count; i++)
        ok = dup2(descriptors[i], fork_serve_number(i - FORK_FIRST_FILE)) >= 0;
    if (!ok || !end_with_reader(descriptors[FORK_ANSWER]))
        _exit(255);
    own.process = getpid();
    own.answer = descriptors[FORK_ANSWER];
}

/* Continues in a new process, with a group of its own before either goes on: what is left of the
 * first one's group is killed at its end. */
static void detach_from_starter(void)
{
    pid_t copy = fork();

    if (copy >= 0 && setpgid(copy, copy) == 0 && copy == 0)
        return;
    _exit(copy > 0 ? 0 : 255);
}

/* What is printed before a job would be in no output; and a fork has only the calling thread. */
static bool can_serve(void)
{
    struct stat printed, threads;

    return fstat(STDERR_FILENO, &printed) == 0 && printed.st_size == 0 &&
           stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 3;
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
    int descriptors[FORK_DESCRIPTORS], count = FORK_FIRST_FILE;
    pid_t copy = -1;

    while (count < FORK_DESCRIPTORS && fork_serve_number(count - FORK_FIRST_FILE) >= 0)
        count++;
    if (!can_serve())
        _exit(255);
    if (number_in_variable(1) == 1)
        detach_from_starter();
    for (unsigned jobs = 0; copy != 0; jobs++) {
        if (!is_asked() || !receive_job(descriptors, count))
            _exit(0);
        dl_iterate_phdr(enlarge_text, &jobs);
        copy = fork();
        if (copy == 0)
            take_job(descriptors, count);
        for (int i = 0; copy != 0 && i < count; i++)
            close(descriptors[i]);
    }
}

void fork_serve_if_wanted(void)
{
    if (fork_serve_number(0) >= 0)
        fork_serve();
}

void fork_serve_end(int status)
{
    struct fork_answer answer = {.status = status & 0xff};
    struct rusage usage = {0};

    if (own.process != getpid())
        return;
    getrusage(RUSAGE_SELF, &usage);
    answer.peak = (uint64_t)usage.ru_maxrss * 1024;
    _exit(write(own.answer, &answer, sizeof answer) == sizeof answer ? status : 255);
}
