/* plain_program: a program of others, or with mode "own" one that serves itself, for tests of the
 * fork server.
 *
 *     plain_program MODE WORD INPUT OUTPUT
 *
 * Copies INPUT to OUTPUT, and prints which process it is and which one is its parent; with mode
 * "memory" how far behind the beginning of a large page a new block is, too, and with
 * "text=LIBRARY" whether the library's text is still its file's. Built without sanitizers, into
 * which nothing can be preloaded. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/fork_server.h"

static void *wait_for_ever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static bool copy(FILE *in, FILE *out)
{
    int byte;

    while (in && out && (byte = getc(in)) != EOF)
        putc(byte, out);
    return in && out && fclose(out) == 0;
}

/* Whether the memory at the address is a file's. */
static bool is_of_file(const void *address)
{
    char line[4096];
    uintptr_t begin, end, inode, wanted = (uintptr_t)address;
    FILE *maps = fopen("/proc/self/maps", "r");
    bool is = false;

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) == 3 && begin <= wanted &&
            wanted < end)
            is = inode != 0;
    if (maps)
        fclose(maps);
    return is;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 5 ? argv[1] : "";
    void *library = strncmp(mode, "text=", 5) == 0 ? dlopen(mode + 5, RTLD_NOW) : NULL;
    pthread_t thread;
    FILE *in;
    int status;

    if (strcmp(mode, "early") == 0)
        fputs("early\n", stderr);
    if (strcmp(mode, "threads") == 0)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (strcmp(mode, "own") == 0)
        fork_serve_if_wanted();
    if (strcmp(mode, "elsewhere") == 0)
        return 0;
    in = argc == 5 ? fopen(argv[3], "rb") : NULL;
    printf("%ld %ld", (long)getppid(), (long)getpid());
    if (strcmp(mode, "memory") == 0)
        printf(" %zu", (size_t)((uintptr_t)malloc(100000) % (2u << 20)));
    if (library)
        printf(" %d", is_of_file(dlsym(library, "large_text")));
    printf("\n");
    fflush(stdout);
    if (strcmp(mode, "fail") == 0)
        return 3;
    if (strcmp(mode, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(mode, "hang") == 0)
        wait_for_ever(NULL);
    status = copy(in, argc == 5 ? fopen(argv[4], "wb") : NULL) ? 0 : 1;
    if (strcmp(mode, "own") == 0)
        fork_serve_end(status);
    return status;
}
