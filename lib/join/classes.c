/* classes.c: the rule sets that say which sections the join makes, and in which order. */
#include "join/classes.h"

#define CLASSES_OF_CONSTANTS (CLASS_SET(CONSTANT) | CLASS_SET(FUNCTION_CONSTANT))
#define CLASSES_OF_DATA                                                                            \
    (CLASSES_OF_CONSTANTS | CLASS_SET(GLOBAL_INIT) | CLASS_SET(SHARED) | CLASS_SET(DEBUG_SHARED) | \
     CLASS_SET(GLOBAL))

static const struct class_step steps[] = {
    {UNITED,
     ~(CLASSES_OF_DATA | CLASSES_OF_MERCURY)}, /* debug information, and what is not known */
    {MADE_ANEW, CLASS_SET(NOTE)},
    {MADE_ANEW, CLASS_SET(INFO)},
    {MADE_ANEW, CLASS_SET(COMPAT)},
    {OF_FUNCTIONS, CLASS_SET(INFO)},
    {MADE_ANEW, CLASS_SET(CALLGRAPH)},
    {MADE_ANEW, CLASS_SET(PROTOTYPE)},
    {OF_FUNCTIONS, CLASS_SET(RELOCATIONS)},
    {OF_UNITED, CLASS_SET(RELOCATIONS)},
    {UNITED, CLASSES_OF_CONSTANTS},
    {OF_FUNCTIONS, CLASS_SET(CONSTANT)},
    {OF_FUNCTIONS, CLASS_SET(TEXT)},
    {UNITED, CLASS_SET(GLOBAL_INIT)},
    {OF_FUNCTIONS, CLASS_SET(SHARED) | CLASS_SET(DEBUG_SHARED)},
    {UNITED, CLASS_SET(SHARED) | CLASS_SET(DEBUG_SHARED)},
    {UNITED, CLASS_SET(GLOBAL)},
    {OF_FUNCTIONS, CLASS_SET(FUNCTION_CONSTANT)},
    {OF_FUNCTIONS, CLASS_SET(DEBUG) | CLASS_SET(OTHER) | CLASS_SET(GLOBAL) |
                       CLASS_SET(GLOBAL_INIT) | CLASS_SET(RESERVED)},
    {OF_FUNCTIONS, CLASS_SET(TWIN_TEXT)},
    {UNITED, CLASS_SET(TWIN_DEBUG)},
    {MADE_ANEW, CLASS_SET(TWIN_INFO)},
    {OF_FUNCTIONS, CLASS_SET(TWIN_INFO)},
    {OF_FUNCTIONS, CLASS_SET(TWIN_RELOCATIONS)},
    {OF_UNITED, CLASS_SET(TWIN_RELOCATIONS)},
    {OF_FUNCTIONS, CLASSES_OF_MERCURY & ~(CLASS_SET(TWIN_TEXT) | CLASS_SET(TWIN_INFO) |
                                          CLASS_SET(TWIN_RELOCATIONS))},
    {UNITED, CLASSES_OF_MERCURY & ~CLASS_SET(TWIN_DEBUG)},
};

static const uint8_t whole_plain[] = {
    CLASS_NONE,      CLASS_TABLE,       CLASS_DEBUG,         CLASS_NOTE,
    CLASS_INFO,      CLASS_COMPAT,      CLASS_FUNCTION_INFO, CLASS_CALLGRAPH,
    CLASS_PROTOTYPE, CLASS_REL_ACTION,  CLASS_RELOCATIONS,   CLASS_CONSTANT,
    CLASS_TEXT,      CLASS_GLOBAL_INIT, CLASS_SHARED,        CLASS_FUNCTION_CONSTANT,
};

enum section_class classes_of(const struct cubin_section *section)
{
    const struct section_facts *row = section->facts;
    bool is_mercury = cubin_is_mercury(section);

    if (!row || class_is_in(row->class, CLASSES_OF_MERCURY) != is_mercury)
        return is_mercury ? CLASS_TWIN_OTHER : CLASS_OTHER;
    return section->type == SHT_CUDA_CONSTANT0 ? CLASS_FUNCTION_CONSTANT : row->class;
}

const struct class_step *classes_relocatable(size_t *count)
{
    *count = sizeof steps / sizeof *steps;
    return steps;
}

size_t classes_whole(const struct toolkit_facts *toolkit, uint8_t order[CLASS_COUNT + 1])
{
    size_t count, next = 0;
    const enum section_class *twins = sections_twin_order(toolkit, &count);

    while (next < sizeof whole_plain) {
        order[next] = whole_plain[next];
        next++;
    }
    for (size_t i = 0; i < count; i++)
        order[next++] = (uint8_t)twins[i];
    return next;
}
