/* renames.c: a hash table from names to meanings. */
#include "base/renames.h"

#include <stdlib.h>

#include "base/memory.h"

void renames_add(struct renames *renames, struct text name, struct text meaning)
{
    table_set(&renames->places, name, (uint32_t)renames->count);
    ARRAY_PUSH(renames->meanings, renames->count, renames->capacity) = meaning;
}

struct text renames_meaning(const struct renames *renames, struct text name)
{
    uint32_t place = renames->count ? table_find(&renames->places, name) : TABLE_NONE;

    return place == TABLE_NONE ? name : renames->meanings[place];
}

void renames_free(struct renames *renames)
{
    table_free(&renames->places);
    free(renames->meanings);
}
