/* contents.h: the type of an input, and the code in it. */
#pragma once

#include "base/arch.h"
#include "facts/toolkits.h"
#include "library/nvjitlink/interface.h"

/* The type of an input by its first bytes; text is PTX when it has a .version.
 * NVJITLINK_INPUT_NONE: unknown. */
nvJitLinkInputType contents_type(const void *data, size_t size);

/* The name of a type, "a cubin". */
const char *contents_type_name(nvJitLinkInputType type);

/* What fatbins in an input have for a target. */
struct contents {
    size_t fatbin_count; /* relocatable or not */
    bool has_ptx;
    bool has_cubin;
    bool has_ltoir;
    bool is_cut; /* a fatbin or an entry is cut off, or has another header */
};

/* What code must be for. */
struct contents_target {
    struct arch arch;
    const struct toolkit_facts *toolkit; /* the one whose library is followed */
};

/* Looks for fatbins anywhere in a fatbin, host object or archive, and at the headers of their
 * entries: only the kind, the size and the target. */
struct contents contents_look(const void *data, size_t size, const struct contents_target *target);

/* True if a bare cubin's target is one that the library takes. (Whether the link takes it is
 * another question.) */
bool contents_takes_cubin(const void *data, size_t size, const struct contents_target *target);

/* The number of the target that LTO-IR was made for, or 0 if its header does not say. */
unsigned contents_ltoir_target(const void *data, size_t size);
