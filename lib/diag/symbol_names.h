/* symbol_names.h: names of symbols in messages: demangled, and without the types of parameters. */
#pragma once

#include "base/memory.h"
#include "base/text.h"

/* Replaces each mangled one of `names` by its demangled form: "_Z6kernelPfi" becomes "kernel(float
 * *, int)", with nvlink's spacing, in `arena`; of names of static symbols in whole programs, only
 * the last part (below). A name stays as it is if it is not mangled, longer than 64 KiB before or
 * after, or takes more than 0.3 seconds; all names do if the system has no demangler. Starts a
 * child; see exec.h for who may. */
void symbol_names_demangle(struct text *names, size_t count, struct arena *arena);

/* The last part of __nv_static_..._<mangled>; other names as they are. */
struct text symbol_names_part(struct text name);

/* How messages print each of `names`, in `arena`: a mangled one demangled, "helper(int)", all by
 * one child; other names, and all under --no-demangle, in quotes, "'helper'". */
const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena);

/* The same of one name, always in quotes: "'helper(int)'". */
const char *symbol_names_quoted(struct text name, struct arena *arena);

/* The name without types, "ns::helper" of _ZN2ns6helperEi, and "helper" of helper, a C name; in
 * `arena`. Empty for templates, operators and other names that are not that simple. */
struct text symbol_names_base(struct text name, struct arena *arena);
