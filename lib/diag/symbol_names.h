/* symbol_names.h: names of symbols in messages, and names without the types of their parameters. */
#pragma once

#include "base/arena.h"
#include "base/text.h"

/* How messages print each of `names`, in `arena`: a mangled one demangled, "helper(int)"; other
 * names, and all under --no-demangle, in quotes, "'helper'". One child demangles all (demangle.h).
 */
const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena);

/* The same as symbol_names_shown of one name, always in quotes: "'helper(int)'". */
const char *symbol_names_quoted(struct text name, struct arena *arena);

/* The name without types, "ns::helper" of _ZN2ns6helperEi, and "helper" of helper, a C name; in
 * `arena`. Empty for templates, operators and other names that are not that simple. */
struct text symbol_names_base(struct text name, struct arena *arena);
