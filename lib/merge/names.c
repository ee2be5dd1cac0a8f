/* names.c: the names in .strtab and .shstrtab; one lookup serves both. */
#include "merge/merge_steps.h"

#include <stdlib.h>

#include "base/memory.h"

/* A name's places in the string tables, to which it is added where `tables` has their bits. */
static const uint32_t *put_name(struct merging *m, unsigned tables, struct text name)
{
    struct names *names = &m->out->names;
    uint32_t next = (uint32_t)names->known.count;
    uint32_t known = table_add(&names->known, name, next);
    uint32_t *places;

    ARRAY_RESERVE(names->places, names->capacity, names->known.count);
    places = names->places[known];
    if (known == next)
        memset(places, 0, sizeof *names->places);
    for (unsigned i = 0; i < NAMES_TABLES; i++)
        if ((tables & 1u << i) && places[i] == 0 && name.size > 0)
            places[i] = image_put_string(&names->tables[i], name);
    return places;
}

uint32_t names_put(struct merging *m, enum name_table table, struct text name)
{
    return put_name(m, 1u << table, name)[table];
}

void names_cleanup(void *argument)
{
    struct names *names = argument;

    table_free(&names->known);
    free(names->places);
    buffer_free(&names->tables[NAMES_STRTAB]);
    buffer_free(&names->tables[NAMES_SHSTRTAB]);
}

const uint32_t *names_put_both(struct merging *m, struct text name)
{
    return put_name(m, 1u << NAMES_STRTAB | 1u << NAMES_SHSTRTAB, name);
}
