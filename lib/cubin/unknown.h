/* unknown.h: sections of kinds that no row of sections.def describes, and records that none of
 * attributes.def and compat.def does, as newer toolkits may add.
 *
 * They are carried over as they are, each for itself, or the link fails: leaving them out might
 * change what the program does. Records of .nv.compat are left out, as they are in every link by
 * nvlink 13.0 to 13.5. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cubin/cubin.h"

/* True for a section of such a kind. */
bool unknown_is(const struct cubin_section *section);

/* True for a record of .nv.info, .nv.info.F, their twins or .nv.compat that no row describes. */
static inline bool unknown_is_record(const struct cubin_section *section,
                                     const struct info_record *record)
{
    return section->type == SHT_CUDA_COMPAT ? !compat_rule(record->attribute)
                                            : !attributes_find(record->attribute);
}

/* True if its contents may follow those of another cubin's section of that name: nvlink 13.5
 * concatenates sections of type PROGBITS whatever their names, and relocates them like debug
 * sections. */
static inline bool unknown_is_joinable(const struct cubin_section *section)
{
    return section->type == SHT_PROGBITS || section->type == SHT_NOTE;
}

/* Returns whether all such sections and records of the cubins can be carried over; if so, cautions
 * of each kind and attribute once, and of records of .nv.compat, which are not. If not, reports
 * each section that cannot, and which toolkit made it: those that are loaded, or name symbols or
 * sections, whose numbers change, or have relocations, or belong to no function and are not the
 * only ones of their type; or else each record, as unknown_check_records() does. With `sass_only`
 * Mercury's sections do not count. */
bool unknown_check(const struct cubin *const *cubins, size_t count, bool sass_only);

/* Returns whether all unknown records of .nv.info, .nv.info.F and their twins can be carried over;
 * if not, reports each that cannot, as it may name symbols, and which toolkit made it. nvlink 13.0
 * to 13.5 copy all as they are, symbols too, and pass none on to kernels; from sm_100 on their
 * finalizer makes the plain records anew, of those of the twins. */
bool unknown_check_records(const struct cubin *cubin, bool sass_only);
