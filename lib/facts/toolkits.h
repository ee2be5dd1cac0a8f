/* toolkits.h: what is known of each CUDA toolkit: the rows of toolkits.def.
 *
 * A link behaves like the nvlink of one toolkit. What differs between toolkits stands in columns of
 * toolkits.def, or in rows of other tables that hold for a range of toolkits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct toolkit_facts {
    uint16_t version;           /* ten times the number: 135 is CUDA 13.5 */
    const char *release;        /* "13.5, V13.5.37" */
    uint16_t ptx;               /* the newest PTX ISA version, times ten */
    uint16_t finalizer;         /* a greater one finalizes code of a smaller one anew */
    uint16_t finalizer_version; /* FINALIZER_VERSION of .nv.compat; 0 = it writes none */
};

/* The toolkits for which a row of another table holds. */
struct toolkit_range {
    uint16_t first, last; /* versions, both included */
};

/* What may stand in such a row for the last one. */
#define ONWARDS UINT16_MAX
/* ... and for both where no toolkit is listed that has it. */
#define NEVER 0

/* The row for `version`: of a toolkit that is not listed, that of the newest one before it; the
 * oldest row if there is none. Never NULL. */
const struct toolkit_facts *toolkits_find(unsigned version);

const struct toolkit_facts *toolkits_newest(void);

/* The toolkit whose newest PTX ISA version that is; NULL if none is listed. */
const struct toolkit_facts *toolkits_of_ptx(unsigned major, unsigned minor);

/* True for a PTX ISA version above the newest toolkit's: one of a CUDA that is not listed yet. */
bool toolkits_ptx_is_newer(unsigned major, unsigned minor);

/* True for a PTX ISA version up to that which ptxas's --list-version names: from 1.0, with gaps. */
bool toolkits_ptx_is_known(unsigned major, unsigned minor);

/* True if the row with this range holds for the toolkit. */
static inline bool toolkit_is_in(const struct toolkit_facts *toolkit, struct toolkit_range range)
{
    return toolkit->version >= range.first && toolkit->version <= range.last;
}

enum toolkit_behaviour {
#define BEHAVIOUR(name, first, last) TOOLKIT_##name,
#include "facts/behaviours.def"
#undef BEHAVIOUR
};

/* Whether the toolkit's nvlink does what the row of behaviours.def says. */
bool toolkit_does(const struct toolkit_facts *toolkit, enum toolkit_behaviour behaviour);

/* The last toolkit, times ten, that does so; ONWARDS if the newest one does. */
unsigned toolkits_last(enum toolkit_behaviour behaviour);

/* Reads a version, "13.5": its number times ten; 0 if it is none. What follows the second number
 * must be nothing, or not a digit ("13.5.37", "13.5, V13.5.37"). */
unsigned toolkit_version_read(struct text text);
