/* progress.c: one line, one lock, one thread.
 *
 * The lock is held while the line is drawn and while others write, so that neither lands inside the
 * other. Counting takes no lock. */
#include "diag/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/descriptor.h"

#define INTERVAL   100000000u /* nanoseconds from one drawing to the next */
#define SOON       500000000u /* a link that takes no longer shows nothing under `auto` */
#define MOST_SHOWN 120u       /* characters */

/* Moves the cursor to the beginning of the line and erases the line. */
static const char wipe[] = "\r\x1b[K";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ending = PTHREAD_COND_INITIALIZER;
static _Atomic bool is_on;
static _Atomic bool is_shown; /* the line is on the terminal */
static _Atomic bool is_gone;  /* the program is about to end */
/* Guarded by the lock: */
static pthread_t thread;
static bool is_ending;
static const char *stage;
static size_t item_count;
static uint64_t all_weight;
static uint64_t stage_start;
static uint64_t first_drawing; /* not before */
/* Counted by any thread: */
static _Atomic size_t done_items;
static _Atomic uint64_t done_weight;

static bool is_in_foreground(void)
{
    return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static size_t columns(void)
{
    struct winsize size;
    size_t count = 80;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        count = size.ws_col;
    return count <= MOST_SHOWN ? count : MOST_SHOWN;
}

/* The time for the remaining work, in proportion to the time so far. 0 = not known yet. */
static uint64_t seconds_left(uint64_t now)
{
    double done = (double)atomic_load(&done_weight), all = (double)all_weight;
    double left = done > 0 ? (double)(now - stage_start) / 1e9 * (all - done) / done : 0;

    return left > 0 && left < 360000 ? (uint64_t)left + 1 : 0;
}

/* The time that is left; while that is not known, the time so far. */
static int put_time(char *text, size_t room, uint64_t now)
{
    uint64_t left = seconds_left(now);
    uint64_t seconds = left ? left : (now - stage_start) / 1000000000;

    if (seconds == 0)
        return 0;
    if (seconds < 120)
        return snprintf(text, room, ", %u s%s", (unsigned)seconds, left ? " left" : "");
    return snprintf(text, room, ", %u min%s", (unsigned)((seconds + 30) / 60), left ? " left" : "");
}

static void take_away(void)
{
    if (atomic_exchange(&is_shown, false))
        descriptor_write(STDERR_FILENO, wipe, sizeof wipe - 1);
}

static void draw_display(void)
{
    char line[MOST_SHOWN + 64];
    uint64_t now = clock_now();
    size_t most = columns(); /* with the carriage return; one that is full might wrap */
    int size = 1;

    if (!stage || atomic_load(&is_gone) || now < first_drawing || !is_in_foreground())
        return;
    line[0] = '\r';
    if (item_count)
        size += snprintf(line + size, 64, "[%zu/%zu] ", atomic_load(&done_items), item_count);
    size += snprintf(line + size, 64, "%s", stage);
    if (item_count)
        size += put_time(line + size, 32, now);
    if ((size_t)size > most)
        size = (int)most;
    memcpy(line + size, wipe + 1, sizeof wipe - 2); /* the rest of a longer line before it */
    atomic_store(&is_shown, true);
    descriptor_write(STDERR_FILENO, line, (size_t)size + sizeof wipe - 2);
}

static void *run_display(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!is_ending) {
        struct timespec until;

        draw_display();
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += INTERVAL;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ending, &lock, &until);
    }
    take_away();
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool is_progress_wanted(enum progress_use use)
{
    const char *terminal = getenv("TERM");

    if (use == PROGRESS_OFF || !is_in_foreground())
        return false;
    return use == PROGRESS_ON ||
           (!getenv("MAKELEVEL") && terminal && *terminal && strcmp(terminal, "dumb") != 0);
}

void progress_begin(enum progress_use use)
{
    sigset_t all, before;
    bool was_on = false;

    if (!is_progress_wanted(use) || !atomic_compare_exchange_strong(&is_on, &was_on, true))
        return;
    is_ending = false;
    stage = NULL;
    first_drawing = use == PROGRESS_ON ? 0 : clock_now() + SOON;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited by the thread */
    if (pthread_create(&thread, NULL, run_display, NULL))
        atomic_store(&is_on, false);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_stage(const char *doing, size_t items, uint64_t weight)
{
    if (!atomic_load(&is_on))
        return;
    pthread_mutex_lock(&lock);
    stage = doing;
    item_count = items;
    all_weight = weight;
    stage_start = clock_now();
    atomic_store(&done_items, 0);
    atomic_store(&done_weight, 0);
    draw_display();
    pthread_mutex_unlock(&lock);
}

void progress_done(uint64_t weight)
{
    if (!atomic_load(&is_on))
        return;
    atomic_fetch_add(&done_items, 1);
    atomic_fetch_add(&done_weight, weight);
}

void progress_pause(void)
{
    if (!atomic_load(&is_on))
        return;
    pthread_mutex_lock(&lock);
    take_away();
}

void progress_resume(void)
{
    if (atomic_load(&is_on))
        pthread_mutex_unlock(&lock);
}

void progress_end(void)
{
    if (!atomic_load(&is_on))
        return;
    pthread_mutex_lock(&lock);
    is_ending = true;
    pthread_cond_signal(&ending);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    atomic_store(&is_on, false);
}

void progress_wipe(void)
{
    atomic_store(&is_gone, true);
    take_away();
}
