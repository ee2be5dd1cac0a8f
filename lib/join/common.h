/* common.h: what both ways to join share: the classes of sections (facts/cubins.h), and records
 * with the result's symbols. */
#pragma once

#include <stdint.h>

#include "base/memory.h"
#include "cubin/cubin.h"
#include "facts/cubins.h"

/* Sets of classes. */
#define CLASS_SET(class)       (UINT64_C(1) << CLASS_##class)
#define CLASSES_OF_MERCURY     ((CLASS_SET(TWIN_SYMTAB) << 1) - CLASS_SET(TWIN_TEXT))
#define CLASSES_OF_RELOCATIONS (CLASS_SET(RELOCATIONS) | CLASS_SET(TWIN_RELOCATIONS))

static inline bool class_is_in(enum section_class class, uint64_t set)
{
    return set >> class & 1;
}

/* The order of classes in which ptxas writes sections, which is not nvlink's: plain ones, then
 * Mercury's as the toolkit's tools write them. In relocatable cubins ptxas has .nv.compat between
 * .nv.info and functions' records, which are one class there; the merge orders them anew. */
void common_order_classes(uint8_t order[CLASS_COUNT], const struct toolkit_facts *toolkit);

/* The class of a relocatable cubin's section: CLASS_OTHER or CLASS_TWIN_OTHER if its kind is not
 * known, INFO for functions' records too, FUNCTION_CONSTANT for bank 0 only. */
enum section_class common_class_of(const struct cubin_section *section);

/* Appends a record of a chunk with the result's symbols: `joined` has them by the chunk's, 0 = not
 * in the result. An EXTERNS record loses the symbols for which `bound` is true; NULL: none. Appends
 * nothing and returns false if a symbol is lost, or no external one is left. */
bool common_put_record(struct buffer *to, const struct info_record *record,
                       const struct cubin *cubin, const uint32_t *joined, const bool *bound);
