/* elf_library.c: libelf's version and fill byte are per process, its last error per thread. */
#include "os/elf_library.h"

#include <libelf.h>
#include <pthread.h>
#include <string.h>

#include "base/context.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* libelf fills with zeros by default; a program that uses minilink as a library may have set
 * another byte. */
static void begin_libelf(void)
{
    elf_version(EV_CURRENT);
    elf_fill(0);
}

void elf_library_begin(void)
{
    pthread_once(&once, begin_libelf);
    elf_errno();
}

/* libelf's error number for a lack of memory is not public; its text is. */
const char *elf_library_failure(void)
{
    int code = elf_errno();
    const char *why = code ? elf_errmsg(code) : NULL;

    if (why && strcmp(why, "out of memory") == 0)
        context_raise(LINK_NO_MEMORY);
    return why;
}
