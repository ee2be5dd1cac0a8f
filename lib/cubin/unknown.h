/* unknown.h: sections of kinds that no row of sections.def describes, as newer toolkits may add.
 *
 * They are carried over as they are, each for itself, or the link fails: leaving them out might
 * change what the program does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cubin/cubin.h"

/* True for a section of such a kind. */
bool unknown_is(const struct cubin_section *section);

/* True if its contents may follow those of another cubin's section of that name: nvlink 13.5
 * concatenates sections of type PROGBITS whatever their names, and relocates them like debug
 * sections. */
static inline bool unknown_is_joinable(const struct cubin_section *section)
{
    return section->type == SHT_PROGBITS || section->type == SHT_NOTE;
}

/* Returns whether all such sections of the cubins can be carried over; if not, reports each that
 * cannot, and which toolkit made it: those that are loaded, or name symbols or sections, whose
 * numbers change, or have relocations, or belong to no function and are not the only ones of their
 * type. With `sass_only` Mercury's
 * sections do not count. */
bool unknown_check(const struct cubin *const *cubins, size_t count, bool sass_only);

/* Cautions of each kind of section that is carried over, once. */
void unknown_tell(const struct cubin *const *cubins, size_t count, bool sass_only);
