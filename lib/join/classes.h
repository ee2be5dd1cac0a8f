/* classes.h: the classes of sections (facts/sections.h), and the order in which those of the result
 * stand: of a relocatable cubin, and of a whole program. */
#pragma once

#include <stdint.h>

#include "cubin/cubin.h"
#include "facts/sections.h"

/* Sets of classes. */
#define CLASS_SET(class)       (UINT64_C(1) << CLASS_##class)
#define CLASSES_OF_MERCURY     ((CLASS_SET(TWIN_SYMTAB) << 1) - CLASS_SET(TWIN_TEXT))
#define CLASSES_OF_RELOCATIONS (CLASS_SET(RELOCATIONS) | CLASS_SET(TWIN_RELOCATIONS))

static inline bool class_is_in(enum section_class class, uint64_t set)
{
    return set >> class & 1;
}

/* The class of a relocatable cubin's section: CLASS_OTHER or CLASS_TWIN_OTHER if its kind is not
 * known, INFO for functions' records too, FUNCTION_CONSTANT for bank 0 only. */
enum section_class classes_of(const struct cubin_section *section);

/* Sections that stand together in a relocatable cubin. */
struct class_step {
    enum class_source {
        OF_FUNCTIONS, /* each function's own, in the order of the functions */
        UNITED,       /* those that all functions share, by name */
        OF_UNITED,    /* the relocations of these */
        MADE_ANEW,    /* one of each name; of one class */
    } source;
    uint64_t classes;
};

/* The order in which ptxas 13.0 to 13.5 write plain ones, and 13.0 Mercury's (13.5 has others; the
 * merge orders them anew), whose tables of symbols follow. Sets *count. */
const struct class_step *classes_relocatable(size_t *count);

/* The order of a whole program's classes: CLASS_NONE, of names that are made before those of
 * sections, CLASS_TABLE, plain ones, and Mercury's as that toolkit writes them. Bank 0 from sm_90
 * on is FUNCTION_CONSTANT, and SHARED all that has no bytes; otherwise a function's own sections
 * are of the program's class, but for plain records. Returns their number. */
size_t classes_whole(const struct toolkit_facts *toolkit, uint8_t order[CLASS_COUNT + 1]);
