/* contents.h: the type of an input, and the code in it. */
#pragma once

#include "base/arch.h"
#include "base/text.h"
#include "facts/toolkits.h"
#include "library/nvjitlink/interface.h"

/* The type of an input by its first bytes; text is PTX when it has a .version.
 * NVJITLINK_INPUT_NONE: unknown. */
nvJitLinkInputType contents_type(struct bytes data);

/* The name of a type, "a cubin". */
const char *contents_type_name(nvJitLinkInputType type);

/* What fatbins in an input have for a target. */
struct contents {
    size_t fatbin_count; /* relocatable or not */
    bool has_ptx;
    bool has_cubin;
    bool has_ltoir;
    bool is_cut; /* a fatbin or an entry is cut off or damaged */
};

/* What code must be for. */
struct contents_target {
    struct arch arch;
    const struct toolkit_facts *toolkit; /* the one whose library is followed */
};

/* Looks for fatbins anywhere in a fatbin, host object or archive, and at their entries. */
struct contents contents_look(struct bytes data, const struct contents_target *target);

/* True if a bare cubin's target is one that the library takes. (Whether the link takes it is
 * another question.) */
bool contents_takes_cubin(struct bytes data, const struct contents_target *target);

/* The number of the target that LTO-IR was made for, or 0 if its header does not say. */
unsigned contents_ltoir_target(struct bytes data);
