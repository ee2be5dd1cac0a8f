/* c_locale.h: the locale in which numbers have a point, for threads of programs that use
 * another.
 */
#pragma once

#include <locale.h>

/* Gives the calling thread the C locale. Returns what it had, for uselocale(). */
locale_t c_locale_use(void);
