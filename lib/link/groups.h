/* groups.h: which members' PTX is linked into one program: that which is assembled with the same
 * options.
 *
 * Measured on nvlink 13.0 and 13.5: each PTX member is assembled apart, with the options stored in
 * it (options/stored.h), and merged at its place among the inputs; what LTO makes is merged where
 * the toolkit's nvlink does (MERGES_LTO_FIRST in facts/behaviours.def), and is assembled with the
 * limit on registers that its own options agree on. Members
 * with the same options give the same code in one program, which is nearly every link. In others, a
 * group is a run of neighbours: of weak definitions the first may count, so that the order of the
 * merge must be the inputs'. */
#pragma once

#include "options/stored.h"
#include "ptx/program.h"

struct link;
struct member;

struct group {
    size_t first; /* the PTX and bitcode among these members, */
    size_t end;
    bool has_lto;                  /* and the PTX that LTO-IR becomes */
    size_t place;                  /* the member before which its cubin is merged; SIZE_MAX: last */
    struct stored_options options; /* of the assembler, before the command line's */
    struct program program;        /* its PTX, linked by stage_link() */
};

/* Fills link->groups, once members have been selected; empty when nothing is to be assembled. */
void groups_make(struct link *link);

/* Whether the member's PTX, or what its code becomes, is in the group. */
bool groups_have(const struct group *group, const struct member *members, size_t index);

/* Whether a word of -Xptxas, or of the options of some group, contains `part`. */
bool groups_tell_assembler(const struct link *link, const char *part);

/* The words of all groups and of -Xptxas, in `arena`; end with NULL. */
const char *const *groups_all_words(const struct link *link, struct arena *arena);

/* -vv: the groups and their options. */
void groups_tell(const struct link *link);

/* Frees the programs. */
void groups_free_programs(struct link *link);
