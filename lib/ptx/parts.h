/* parts.h: the PTX of several compilations of one program, each for some of its kernels, as one.
 *
 * libnvJitLink sees all modules in each compilation and keeps what the kernels given to it need. So
 * a variable or function that several kernels need stands in several parts, under the same name
 * unless its name is a number given as it came up (__unnamed_2), and is to be taken once. */
#ifndef MINILINK_PTX_PARTS_H
#define MINILINK_PTX_PARTS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"

struct used_names; /* input/used.h */

struct parts_request {
    const struct text *texts; /* one module each; they must outlive the result */
    size_t count;
    /* What host code names: what no code refers to and it does not name is dropped, and it alone
     * sees variables. NULL: everything stays as it is. */
    const struct used_names *used;
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

#endif
