/* reach.h: what is alive, and what each function can reach. */
#pragma once

#include "merge/merging.h"

/* Flags of everything that a node can reach, itself among it. */
enum reach_flag {
    REACHES_CYCLE = 1,      /* recursion: no bound for the stack */
    REACHES_ALIAS = 2,      /* a function with an alias */
    REACHES_SHARED = 4,     /* code that names a shared variable */
    REACHES_EXTERNS = 8,    /* a function that needs functions outside the program */
    REACHES_TEXTURE = 16,   /* code that names a texture, sampler or surface reference */
    REACHES_CONSTANTS = 32, /* a function with constants of the compiler's */
    REACHES_ANYTHING = 64,  /* always */
};

struct reach {
    uint64_t stack; /* bytes of the deepest path; without meaning under REACHES_CYCLE */
    uint32_t registers;
    uint32_t dearest; /* the function that uses them */
    uint32_t barriers;
    uint32_t flags;
};

/* Fills m->is_live with the functions that stay: kernels, functions whose address is taken or
 * stands in data, and all that they need; under -g and -r, every function. */
void reach_mark_live(struct merging *m);

/* Fills m->reach: per node the largest register and barrier counts, the deepest stack and the flags
 * of everything that it can reach through direct and indirect calls. Own values come from
 * m->functions. Linear, recursion included. */
void reach_summarize(struct merging *m);

/* Room for walks from one function to others; made by reach_walker_begin in the merge's arena. */
struct reach_walker {
    uint32_t *seen;  /* by node: number of the walk that saw it last */
    uint32_t *queue; /* nodes */
    uint32_t walk;
};

void reach_walker_begin(struct reach_walker *walker, struct merging *m);

/* Finds the functions that `from` can reach, itself included, going only where m->reach has `flag`.
 * *found is valid until the next walk; prototypes among them are >= m->symbol_count. Returns how
 * many there are. */
size_t reach_walk(struct reach_walker *walker, const struct merging *m, uint32_t from,
                  enum reach_flag flag, const uint32_t **found);

/* True when the stack that `kernel` needs has no bound, or none that fits its record. */
bool reach_is_unbounded(const struct merging *m, uint32_t kernel);

/* Finds a cycle that `from` can reach: *cycle are its nodes, each of which leads to the next and
 * the last to the first. Returns how many; 0 without REACHES_CYCLE. */
size_t reach_find_cycle(struct merging *m, uint32_t from, const uint32_t **cycle);
