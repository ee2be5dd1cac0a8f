/* contents.h: what an input is, and what code is in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "library/nvjitlink/interface.h"

/* By the first bytes; text is PTX when it has a .version. NVJITLINK_INPUT_NONE: unknown. */
nvJitLinkInputType contents_type(const void *data, size_t size);

/* The name of a type, "a cubin". */
const char *contents_type_name(nvJitLinkInputType type);

/* What fatbins in an input have for a target. */
struct contents {
    size_t fatbin_count; /* relocatable or not */
    bool has_ptx;
    bool has_cubin;
    bool has_ltoir;
    bool is_cut; /* a fatbin, or what is in it, has no end, or another head */
};

/* Looks for fatbins anywhere in a fatbin, host object or archive, and at the heads of what is in
 * them: the kind, the size and the number of the target only. */
struct contents contents_look(const void *data, size_t size, unsigned sm);

/* The number of the target that LTO-IR was made for, or 0 where its head does not tell. */
unsigned contents_ltoir_target(const void *data, size_t size);
