/* parts.h: the PTX of several compilations of one program, each for some of its kernels, as one.
 *
 * libnvJitLink sees all modules in each compilation and keeps what the kernels given to it need. So
 * a variable or function that several kernels need stands in several parts, under the same name
 * unless its name is a number given as it came up (__unnamed_2), and is to be taken once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"

struct used_names; /* input/used.h */

/* Where something stands in the program: that of the lower module, and then of the lower
 * place, comes first. */
struct parts_rank {
    uint32_t module;
    uint32_t place;
};

#define PARTS_NO_RANK ((struct parts_rank){UINT32_MAX, UINT32_MAX})

/* The order of one compilation: ranks of all kernels, and of what else is known, or PARTS_NO_RANK.
 */
struct parts_order {
    struct parts_rank (*rank)(const void *argument, struct text name, bool is_declaration);
    const void *argument;
};

struct parts_request {
    const struct text *texts; /* one module each; they must outlive the result */
    size_t count;
    /* What host code names: what no code refers to and it does not name is dropped, and it alone
     * sees variables. NULL: everything stays as it is. */
    const struct used_names *used;
    /* Everything stands as in one compilation, as far as can be told. NULL: kernels stand by their
     * names, so that the text does not depend on what is in which part. */
    const struct parts_order *order;
};

enum parts_answer {
    PARTS_JOINED,
    PARTS_DISAGREE, /* they cannot be parts of one program: it must be compiled in one */
    PARTS_FAILED,   /* reported: a text is no PTX */
};

struct parts_result {
    struct text ptx;        /* one module */
    size_t several;         /* functions that stand in it in several versions */
    const char *difference; /* PARTS_DISAGREE: about what, as in "size of 'x'" */
};

/* Joins the parts. What comes out does not depend on how the kernels were dealt to them, as far as
 * the code in them does not. The result lives in `arena`. */
enum parts_answer parts_join(struct parts_result *result, struct arena *arena,
                             const struct parts_request *request);
