/* exit_guard.c: _exit() and _Exit() of the program, which plug-ins find before the C library's. */
#include <stdlib.h>
#include <unistd.h>

#include "os/cleanup.h"

/* The linker exports symbols that the C library has, too. */
__attribute__((visibility("default"))) void _exit(int status)
{
    cleanup_leave(status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    cleanup_leave(status);
}
