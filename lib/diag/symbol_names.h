/* symbol_names.h: symbols' names as messages say them, and which names mean the same thing but for
 * the types of its parameters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"

/* What a message calls each of `names`, in `arena`: what a mangled one stands for,
 * "helper(int)"; other names, and all under --no-demangle, as they are and in quotes, "'helper'".
 * One child does it for all (demangle.h). */
const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena);

/* The same of one name, always in quotes: "'helper(int)'". */
const char *symbol_names_quoted(struct text name, struct arena *arena);

/* The name without types, "ns::helper" of _ZN2ns6helperEi, and "helper" of helper, which is a name
 * of C; in `arena`. Empty for templates, operators and all else that is not that simple. */
struct text symbol_names_base(struct text name, struct arena *arena);
