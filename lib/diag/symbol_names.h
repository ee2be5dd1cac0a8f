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

/* Names in messages that are put together twice in the same way: first only to learn which names
 * they have, so that one child demangles all of them, and then to be reported. Start with {0}. */
struct symbol_names {
    struct text *names;
    size_t count, capacity;
    const char *const *shown; /* NULL the first time */
    size_t next;
};

/* What a message calls the name; "" the first time. */
const char *symbol_names_say(struct symbol_names *names, struct text name, struct arena *arena);

/* The second time begins. */
void symbol_names_find(struct symbol_names *names, struct arena *arena);

/* The same as symbol_names_shown of one name, always in quotes: "'helper(int)'". */
const char *symbol_names_quoted(struct text name, struct arena *arena);

/* The name without types, "ns::helper" of _ZN2ns6helperEi, and "helper" of helper, which is a name
 * of C; in `arena`. Empty for templates, operators and all else that is not that simple. */
struct text symbol_names_base(struct text name, struct arena *arena);
