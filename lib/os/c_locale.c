/* c_locale.c: the C locale, which glibc has without allocating it. */
#include "os/c_locale.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain;

static void make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t c_locale_use(void)
{
    pthread_once(&once, make);
    return uselocale(plain); /* without one it only asks */
}
