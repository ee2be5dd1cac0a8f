/* compat.h: merges the records of several cubins' .nv.compat by the rules of facts/compat.def. */
#pragma once

#include "facts/targets.h"
#include "base/memory.h"
#include "cubin/cubin.h"

struct compat_record {
    struct info_record record; /* as it came: what no row describes is kept whole */
    uint64_t value;
    size_t files; /* how many have it */
};

/* Start with {0}, and is_mercury set. */
struct compat {
    bool is_mercury;                             /* the cubins have Mercury's sections, too */
    struct compat_record records[UINT8_MAX + 1]; /* one per number, in order of appearance */
    size_t count;
    size_t first; /* how many the first cubin has */
    size_t files; /* cubins that were added */
};

/* Adds the contents of a cubin's .nv.compat. has_code: false for a cubin that adds no code, whose
 * CAN_FASTPATH_FINALIZE does not count with Mercury's sections. */
void compat_add(struct compat *compat, struct bytes section, bool has_code);

/* Appends all records, as a cubin made of these as chunks has them. */
void compat_put_all(const struct compat *compat, struct buffer *out);

/* Appends the records as the toolkit's nvlink does in a link for `arch`. */
void compat_put(const struct compat *compat, struct arch arch, const struct toolkit_facts *toolkit,
                struct buffer *out);
