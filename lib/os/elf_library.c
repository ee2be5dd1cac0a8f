/* elf_library.c: libelf's version and fill byte are the process's, its last failure is a thread's.
 */
#include "os/elf_library.h"

#include <libelf.h>
#include <pthread.h>
#include <string.h>

#include "base/context.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Zeros are what libelf fills with by itself; a program that uses us as a library may have asked
 * for others. */
static void begin(void)
{
    elf_version(EV_CURRENT);
    elf_fill(0);
}

void elf_library_begin(void)
{
    pthread_once(&once, begin);
    elf_errno();
}

/* libelf's number for a lack of memory is not public; its text is. */
const char *elf_library_failure(void)
{
    int code = elf_errno();
    const char *why = code ? elf_errmsg(code) : NULL;

    if (why && strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    return why;
}
