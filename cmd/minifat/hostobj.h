/* hostobj.h: a host object that carries a fatbin or offload binaries, without a compiler. */
#pragma once

#include "base/buffer.h"
#include "base/text.h"
#include "input/offload.h"

/* The sections that nvcc puts fatbins into. */
#define HOSTOBJ_RELOCATABLE   "__nv_relfatbin" /* nvcc -dc, -rdc=true */
#define HOSTOBJ_WHOLE_PROGRAM ".nv_fatbin"     /* nvcc -c */

/* The one that clang puts offload binaries into. */
#define HOSTOBJ_OFFLOAD OFFLOAD_SECTION

/* Machines whose linker takes the object; the first is that of this program. */
enum hostobj_machine { HOSTOBJ_OWN, HOSTOBJ_X86_64, HOSTOBJ_AARCH64 };

/* Puts into `object` an ELF relocatable for `machine` with `fatbin` in `section`, one of those
 * above: offload binaries in the last, with nothing else. In a relocatable one, symbols carry a
 * module id made of the base name of `source` and a hash of the fatbin, so that equal inputs give
 * equal objects. `object` must be empty. */
void hostobj_build(struct buffer *object, struct bytes fatbin, enum hostobj_machine machine,
                   const char *section, const char *source);
