/* hostobj.h: a host object that carries a fatbin, without a compiler. */
#ifndef MINIFAT_HOSTOBJ_H
#define MINIFAT_HOSTOBJ_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/text.h"

/* The sections that nvcc 13.0 puts fatbins into. */
#define HOSTOBJ_RELOCATABLE   "__nv_relfatbin" /* nvcc -dc, -rdc=true */
#define HOSTOBJ_WHOLE_PROGRAM ".nv_fatbin"     /* nvcc -c */

/* Appends to `object` an x86-64 ELF relocatable with `fatbin` in `section`, one of the two above.
 * In a relocatable one, symbols carry a module id made of the base name of `source` and a hash of
 * the fatbin, so that equal inputs give equal objects. False, and an error, when libelf or the
 * system fails. */
bool hostobj_build(struct buffer *object, struct bytes fatbin, const char *section,
                   const char *source);

#endif
