/* modules.h: the file of -register-link-binaries.
 *
 * Each host object with relocatable device code has a name, its module id, in section
 * __nv_module_id. Its start-up code calls __cudaRegisterLinkedBinary<id>, which is made by
 * compiling nvcc's link.stub with a list of the linked objects' ids:
 *
 *     #define NUM_PRELINKED_OBJECTS 2
 *     DEFINE_REGISTER_FUNC(_ac0448fe_4_a_cu__Z2kaPi)
 *     DEFINE_REGISTER_FUNC(_beb1e710_4_b_cu__Z1fi)
 *
 * An object that nvcc -dlink made registers objects already; it names them as "def <id>". Such ids
 * are left out. All measured on nvlink. */
#pragma once

#include "base/memory.h"
#include "base/text.h"
#include "input/file.h"

/* Appends the list for all inputs to `list`; without those of the toolkit's libraries when
 * `without_system`, and the last input first with `last_first`, as nvlink lists those of a program
 * that comes from LTO-IR alone. Files of device code whose names are in `compiled`, which may be
 * NULL, are left out: the link has compiled their LTO-IR, and nvlink lists only host objects then.
 * False, and an error for each, when an id is no C identifier. */
bool modules_list(struct buffer *list, const struct inputs *inputs, const struct table *compiled,
                  bool without_system, bool last_first);
