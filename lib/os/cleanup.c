/* cleanup.c: signal and exit handlers; other threads hand the event over to the link thread.
 *
 * Everything that a handler here calls is async-signal-safe. */
#include "os/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "os/internal.h"

/* The program's exit statuses, as in link/link.h. */
#define STATUS_ERROR       1
#define STATUS_ENVIRONMENT 3

/* Threads that may call exit() at the same time. glibc has room for 32 handlers without malloc. */
#define EXIT_HANDLERS 16

/* How a thread tells the link thread to end the program, and how long it waits for that, which
 * takes milliseconds. */
#define HAND_OVER_SIGNAL  SIGRTMAX
#define HAND_OVER_SECONDS 30

/* Room for a signal frame with all vector registers, and a handler's few calls. */
#define STACK_SIZE (64u << 10)

/* How the program ends: by the signal, or with a message and a status. */
struct end {
    int number; /* of the signal; 0 = none */
    int status;
    const char *said[4]; /* the message's parts; NULL without one */
};

static const char *program_name;
static void (*clean_up)(void);
static pid_t link_process; /* its first thread is the link thread */
static atomic_bool is_prepared;

/* The event that another thread has handed over. */
static struct end handed;
static atomic_flag is_handed = ATOMIC_FLAG_INIT;

static bool (*_Atomic find_culprit)(const void *address, const char **path, const char **what);

/* Tokens must not be given back twice. */
static atomic_flag is_finishing = ATOMIC_FLAG_INIT;

/* Ends the process by system call, since _exit may be replaced. */
static _Noreturn void leave_process(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

/* In one call, so that messages of several programs do not mix. A cancelled thread comes here on a
 * stack that was unwound unknown to the address sanitizer. */
__attribute__((no_sanitize_address)) static void print_end(const struct end *end)
{
    const char *parts[] = {program_name ? program_name : "minilink",
                           " fatal   : ",
                           end->said[0],
                           end->said[1],
                           end->said[2],
                           end->said[3],
                           "\n"};
    struct iovec pieces[sizeof parts / sizeof *parts];
    const size_t count = sizeof parts / sizeof *parts;

    for (size_t i = 0; i < count; i++)
        pieces[i] = (struct iovec){(void *)(uintptr_t)parts[i], strlen(parts[i])};
    if (writev(STDERR_FILENO, pieces, (int)count) < 0)
        errno = 0; /* nobody is left to be told */
}

/* The raised signal is blocked in the handler, and delivered when that returns. */
static void finish_end(const struct end *end)
{
    while (atomic_flag_test_and_set(&is_finishing))
        pause();
    if (clean_up)
        clean_up();
    if (end->said[0])
        print_end(end);
    if (end->number == 0)
        leave_process(end->status);
    signal(end->number, SIG_DFL);
    raise(end->number);
}

static void end_program(const struct end *end)
{
    if (gettid() != link_process) {
        const struct timespec pause = {.tv_sec = HAND_OVER_SECONDS};

        /* The first event counts; other threads only wait. */
        if (!atomic_flag_test_and_set(&is_handed)) {
            handed = *end;
            tgkill(link_process, link_process, HAND_OVER_SIGNAL);
        }
        nanosleep(&pause, NULL);
    }
    finish_end(end);
}

void cleanup_blame_by(bool (*function)(const void *address, const char **path, const char **what))
{
    atomic_store(&find_culprit, function);
}

/* Blames an input for a fault: it has lost a page, or differs from what was checked. */
static void blame_input(struct end *end, const void *address)
{
    bool (*find)(const void *, const char **, const char **) = atomic_load(&find_culprit);
    const char *path, *what;

    if (find && find(address, &path, &what))
        *end =
            (struct end){.status = STATUS_ENVIRONMENT, .said = {"Input file '", path, "' ", what}};
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct end end = {.number = number};

    (void)context;
    /* What the kernel reports, and no other process sends. */
    if ((number == SIGBUS || number == SIGSEGV || number == SIGFPE) && info->si_code > 0)
        blame_input(&end, number == SIGBUS ? info->si_addr : NULL);
    end_program(&end);
}

/* Handles a hand-over from another thread, or the same signal from anywhere else. */
static void on_hand_over(int number, siginfo_t *info, void *context)
{
    const struct end end = {.number = number};
    bool is_ours = info->si_code == SI_TKILL && info->si_pid == link_process;

    (void)context;
    finish_end(is_ours ? &handed : &end);
}

/* The terminal stops the program's own group only: children are in groups of their own. It stops
 * when the signal is unblocked; when it is continued, so are its children. */
static void on_stop(int number)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, handler;
    int saved = errno;
    sigset_t only;

    exec_signal_all(number);
    sigemptyset(&only);
    sigaddset(&only, number);
    sigaction(number, &stop, &handler);
    kill(getpid(), number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    sigaction(number, &handler, NULL);
    exec_signal_all(SIGCONT);
    errno = saved;
}

static void on_exit_call(void);

/* Without memory for one more handler, those registered before remain. */
static void watch_exit(void)
{
    if (atexit(on_exit_call) || at_quick_exit(on_exit_call))
        errno = 0;
}

/* The end of a program in which an assembler has done `what`. */
static struct end assembler_end(const char *what)
{
    return (struct end){
        .status = STATUS_ERROR,
        .said = {"An assembler has ", what, ", which none may", ": the link is given up"}};
}

/* exit() and quick_exit() call this; they take the handler off the list before they run it, so that
 * threads that exit at the same time need one each. A forked child has another process number. */
static void on_exit_call(void)
{
    const struct end end = assembler_end("called exit()");

    if (!atomic_load(&is_prepared) || getpid() != link_process)
        return;
    watch_exit();
    end_program(&end);
}

void cleanup_leave(int status)
{
    const struct end end = assembler_end("called _exit()");

    if (atomic_load(&is_prepared) && getpid() == link_process)
        end_program(&end);
    leave_process(status);
}

static void on_thread_exit(void *unused)
{
    const struct end end = assembler_end("ended its thread");

    (void)unused;
    if (atomic_load(&is_prepared))
        end_program(&end);
    print_end(&end);
    abort();
}

void cleanup_guard(void (*function)(void *argument), void *argument)
{
    pthread_cleanup_push(on_thread_exit, NULL);
    function(argument);
    pthread_cleanup_pop(0);
}

/* Sanitizers install signal stacks of their own. */
static bool has_stack(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE);
}

static bool use_stack(void *memory)
{
    const stack_t stack = {.ss_sp = memory, .ss_size = STACK_SIZE};

    return sigaltstack(&stack, NULL) == 0;
}

void *cleanup_stack_open(void)
{
    void *stack = has_stack() ? NULL : malloc(STACK_SIZE);

    if (!stack || use_stack(stack))
        return stack;
    free(stack);
    return NULL;
}

void cleanup_stack_close(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    if (stack)
        sigaltstack(&none, NULL);
    free(stack);
}

/* With the real-time signals, all signals that would end the program except SIGKILL, SIGPIPE,
 * SIGXFSZ and the two that the C library keeps for itself (32 and 33). */
static const int crashes[] = {CLEANUP_CRASHES};
static const int others[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU, SIGUSR1,  SIGUSR2,
                             SIGALRM, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};

static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

/* A crash signal that the parent has blocked would be delivered, but to no handler. */
static void unblock_crashes(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaddset(&set, crashes[i]);
    sigaddset(&set, HAND_OVER_SIGNAL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Leaves signals alone that are ignored (nohup, background jobs) or caught (sanitizers). */
static void set_handler(int number, const struct sigaction *action)
{
    struct sigaction old;

    if (sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

static void set_handlers(const int *numbers, size_t count, const struct sigaction *action)
{
    for (size_t i = 0; i < count; i++)
        set_handler(numbers[i], action);
}

void cleanup_prepare(const char *program, void (*function)(void))
{
    static char stack[STACK_SIZE];
    struct sigaction end = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction hand_over = {.sa_sigaction = on_hand_over,
                                  .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_ONSTACK | SA_RESTART};

    program_name = program;
    clean_up = function;
    link_process = getpid();
    if (!has_stack())
        use_stack(stack);
    sigfillset(&hand_over.sa_mask);
    end.sa_mask = stop.sa_mask = hand_over.sa_mask;
    sigaction(HAND_OVER_SIGNAL, &hand_over, NULL);
    set_handlers(crashes, sizeof crashes / sizeof *crashes, &end);
    set_handlers(others, sizeof others / sizeof *others, &end);
    for (int number = SIGRTMIN; number < HAND_OVER_SIGNAL; number++)
        set_handler(number, &end);
    set_handlers(stops, sizeof stops / sizeof *stops, &stop);
    unblock_crashes();
    /* A write beyond the file size limit then fails with an error. */
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < EXIT_HANDLERS; i++)
        watch_exit();
    atomic_store(&is_prepared, true);
}

void cleanup_expected(void)
{
    atomic_store(&is_prepared, false);
}
