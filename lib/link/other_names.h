/* other_names.h: which symbols the code has that is no LLVM bitcode, for the passes that make all
 * else internal. */
#pragma once

#include "base/arena.h"
#include "base/table.h"
#include "link/state.h"

/* Start with {0}; free with other_names_free. */
struct other_names {
    struct text *list; /* each once, in the order of the link */
    size_t count, capacity;
    struct table known;
    struct arena arena;
};

/* Collects what PTX, cubins (which have been read) and the PTX of LTO-IR define for others or
 * refer to. False when some PTX cannot be read, which is not reported: linking it will say so. */
bool other_names_collect(struct other_names *names, const struct link *link);

/* For CONTEXT_DEFER. */
void other_names_free(void *names);
