/* process.h: what a process has that a library must leave as it was. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library/tally.h"

/* Looks, a millisecond apart, after which a thread counts as left. */
#define PROCESS_PATIENCE 60000

/* How many threads a program has that made none: ThreadSanitizer has one of its own, from the first
 * that the program makes. */
#if defined(__SANITIZE_THREAD__)
#define PROCESS_TASKS 2
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PROCESS_TASKS 2
#endif
#endif
#ifndef PROCESS_TASKS
#define PROCESS_TASKS 1
#endif

/* A ptxas that waits for the next link has a socket: as many as there were jobs at a time. */
#define PROCESS_SOCKETS 16

extern char **environ;

struct process_state {
    struct sigaction actions[NSIG];
    sigset_t mask, pending;
    locale_t thread_locale;
    stack_t signal_stack;
    mode_t umask;
    char folder[PATH_MAX];
    char locale[256];
    char environment[1 << 16]; /* all of its words */
    char descriptors[1 << 13]; /* a line for each but sockets: number and what it is */
    int sockets;
    int tasks;
    bool has_children;
};

static inline void process_add(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s\n", word);
}

/* Entries of a folder in /proc, without "." and ".."; reading /proc/self/fd takes one more. */
static inline int process_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 2;
}

/* How many threads there are, once those that are ending have gone: the kernel takes one out of
 * /proc a moment after it was joined. `most` = how many there should be. */
static inline int process_wait_tasks(int most)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int tasks = process_entries("/proc/self/task");

    for (int i = 0; i < PROCESS_PATIENCE && tasks > most; i++) {
        nanosleep(&pause, NULL); /* a signal may end it */
        tasks = process_entries("/proc/self/task");
    }
    return tasks;
}

/* Numbers from 0 on, as the order in /proc may vary. */
static inline void process_descriptors(char *text, size_t size)
{
    for (int fd = 0; fd < 1024; fd++) {
        char path[64], target[256], line[384];
        ssize_t length;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof target - 1);
        if (length < 0)
            continue;
        target[length] = 0;
        snprintf(line, sizeof line, "%d %s", fd, target);
        process_add(text, size, line);
    }
}

static inline void *process_nothing(void *argument)
{
    return argument;
}

/* Takes the lines of sockets out of the text. Returns how many there were. */
static inline int process_drop_sockets(char *text)
{
    char *kept = text;
    int count = 0;

    for (char *line = text; *line;) {
        char *end = strchr(line, '\n') + 1, *what = strchr(line, ' ');

        if (strncmp(what, " socket:", 8) == 0) {
            count++;
        } else {
            memmove(kept, line, (size_t)(end - line));
            kept += end - line;
        }
        line = end;
    }
    *kept = '\0';
    return count;
}

/* Large: not for the stack of a small thread. */
static inline void process_look(struct process_state *state)
{
    siginfo_t child;
    pthread_t thread;

    if (pthread_create(&thread, NULL, process_nothing, NULL) == 0)
        pthread_join(thread, NULL);
    memset(state, 0, sizeof *state);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &state->actions[i]);
    pthread_sigmask(SIG_BLOCK, NULL, &state->mask);
    sigpending(&state->pending);
    state->thread_locale = uselocale((locale_t)0);
    sigaltstack(NULL, &state->signal_stack);
    state->umask = umask(0);
    umask(state->umask);
    if (!getcwd(state->folder, sizeof state->folder))
        state->folder[0] = 0;
    snprintf(state->locale, sizeof state->locale, "%s", setlocale(LC_ALL, NULL));
    for (char **word = environ; word && *word; word++)
        process_add(state->environment, sizeof state->environment, *word);
    process_descriptors(state->descriptors, sizeof state->descriptors);
    state->sockets = process_drop_sockets(state->descriptors);
    state->tasks = process_wait_tasks(PROCESS_TASKS);
    state->has_children = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Not by memcmp: the kernel fills only the first words of a set. */
static inline bool process_same_signals(const sigset_t *a, const sigset_t *b)
{
    for (int i = 1; i < NSIG; i++)
        if (sigismember(a, i) != sigismember(b, i))
            return false;
    return true;
}

static inline bool process_same_action(const struct sigaction *a, const struct sigaction *b)
{
    /* The handler and the handler with information are one field. */
    return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
           process_same_signals(&a->sa_mask, &b->sa_mask);
}

/* What is not as it was, or NULL. By a program with one thread. */
static inline const char *process_changed(const struct process_state *before)
{
    static struct process_state now;
    static char said[1 << 14];

    process_look(&now);
    for (int i = 1; i < NSIG; i++) {
        if (!process_same_action(&before->actions[i], &now.actions[i])) {
            snprintf(said, sizeof said, "what signal %d does", i);
            return said;
        }
    }
    if (!process_same_signals(&before->mask, &now.mask))
        return "the signal mask";
    if (!process_same_signals(&before->pending, &now.pending))
        return "the signals that wait";
    if (before->thread_locale != now.thread_locale)
        return "the thread's locale";
    if (before->signal_stack.ss_sp != now.signal_stack.ss_sp)
        return "the signals' stack";
    if (before->umask != now.umask)
        return "the umask";
    if (strcmp(before->folder, now.folder) != 0)
        return "the working directory";
    if (strcmp(before->locale, now.locale) != 0)
        return "the locale";
    if (strcmp(before->environment, now.environment) != 0)
        return "the environment";
    if (now.tasks != before->tasks)
        return "the number of threads";
    if (now.has_children != before->has_children)
        return "the children";
    if (now.sockets > before->sockets + PROCESS_SOCKETS)
        return "the number of sockets";
    if (strcmp(before->descriptors, now.descriptors) != 0) {
        snprintf(said, sizeof said, "the descriptors, which are\n%.8000s\nand were\n%.8000s",
                 now.descriptors, before->descriptors);
        return said;
    }
    return NULL;
}

static struct process_state process_before;

/* Before the first link. */
static inline void process_begin(void)
{
    process_look(&process_before);
}

/* Checks that the process is as it was when it began; `what` may have changed it. */
static inline void process_check(const char *what)
{
    const char *changed = process_changed(&process_before);

    check(!changed, "%s changes %s", what, changed);
}
