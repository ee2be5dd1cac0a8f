/* tally.h: how the programs that test the library count and tell what held.
 *
 * Nothing may be printed by the library, so that what these programs have to say goes to descriptor
 * 3, and a script can look whether the usual outputs stayed empty. */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TALLY_SHOWN 20 /* failures, of which the others are only counted */

static struct {
    pthread_mutex_t lock;
    FILE *out;
    int passed, failed;
} tally = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Before anything else. What else the program was handed is none of it. */
static inline void tally_begin(void)
{
    close_range(4, ~0u, 0);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    tally.out = fdopen(3, "w");
    if (!tally.out)
        exit(2);
    setvbuf(tally.out, NULL, _IOLBF, BUFSIZ);
}

/* Whether `holds`; when not, the text says what did not. By any thread. */
static inline __attribute__((format(printf, 2, 3))) bool check(bool holds, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&tally.lock);
    if (holds) {
        tally.passed++;
    } else if (tally.failed++ < TALLY_SHOWN) {
        fputs("failed: ", tally.out);
        va_start(arguments, format);
        vfprintf(tally.out, format, arguments);
        va_end(arguments);
        fputc('\n', tally.out);
    }
    pthread_mutex_unlock(&tally.lock);
    return holds;
}

static inline __attribute__((format(printf, 1, 2))) void tally_note(const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&tally.lock);
    va_start(arguments, format);
    vfprintf(tally.out, format, arguments);
    va_end(arguments);
    fputc('\n', tally.out);
    pthread_mutex_unlock(&tally.lock);
}

/* The last line, and the program's status. */
static inline int tally_end(void)
{
    fprintf(tally.out, "%d passed, %d failed\n", tally.passed, tally.failed);
    fclose(tally.out);
    return tally.failed || !tally.passed;
}
