/* rawcode.h: properties of code without a fatbin entry: the architecture of raw cubins and PTX
 * texts. */
#pragma once

#include "base/arch.h"
#include "base/text.h"

/* The architecture of a cubin, from .nv.compat for suffix a, else from the ELF header. False when
 * the header is cut off or names no architecture. Suffix f leaves no trace in a cubin. */
bool rawcode_cubin_arch(struct bytes cubin, struct arch *arch);

/* Finds the contents of a cubin's .nv.compat, which are empty when there is none. False when the
 * section table is damaged. */
bool rawcode_cubin_compat(struct bytes cubin, struct bytes *compat);

/* A PTX text without the blanks and comments at its beginning. */
struct text rawcode_skip_comments(struct text text);

/* The word behind the first `directive` of a PTX text; false when there is none. */
bool rawcode_ptx_directive(struct text ptx, const char *directive, struct text *value);

/* The architecture in the first .target directive of a PTX text; false when there is none. */
bool rawcode_ptx_arch(struct text ptx, struct arch *arch);
