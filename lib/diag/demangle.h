/* demangle.h: demangles C++ names. */
#pragma once

#include "base/arena.h"
#include "base/text.h"

/* Replaces each mangled one of `names` by its demangled form: "_Z6kernelPfi" becomes "kernel(float
 * *, int)", with nvlink's spacing, in `arena`. Names of static symbols in whole programs,
 * __nv_static_..._<mangled>, become their last part. A name stays as it is if it is not mangled,
 * longer than 64 KiB before or after, or takes more than 0.3 seconds; all names do if the system
 * has no demangler. Starts a child; see exec.h for who may. */
void demangle_all(struct text *names, size_t count, struct arena *arena);

/* The last part of __nv_static_..._<mangled>; other names as they are. */
struct text demangle_part(struct text name);
