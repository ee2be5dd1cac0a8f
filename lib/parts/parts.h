/* parts.h: joins the PTX of several compilations of one program, each for some of its kernels.
 *
 * libnvJitLink sees all modules in each compilation and keeps what the given kernels need. So a
 * variable or function that several kernels need is in several parts, under the same name unless
 * its name has a running number (__unnamed_2), and must be taken once. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"

struct buffer;     /* base/memory.h */
struct ptx_module; /* ptx/module.h */
struct used_names; /* input/used.h */

/* A place in the program, as a number: the lower module comes first, then the lower place. */
#define PARTS_RANK(module, place) ((uint64_t)(module) << 32 | (place))
#define PARTS_NO_RANK             UINT64_MAX

/* The order of one compilation: ranks of all kernels, and of other names that are known; or
 * PARTS_NO_RANK. */
struct parts_order {
    uint64_t (*rank)(const void *argument, struct text name, bool is_declaration);
    const void *argument;
};

struct parts_request {
    const struct text *texts; /* one module each; they must outlive the result */
    size_t count;
    /* Names that host code uses. Symbols that neither code nor host code names are dropped, and
     * only variables that host code names are visible. NULL: nothing is changed. */
    const struct used_names *used;
    /* Everything is in the order of one compilation, as far as that is known. NULL: kernels are
     * sorted by name, so that the text does not depend on the division into parts. */
    const struct parts_order *order;
};

enum parts_answer {
    PARTS_JOINED,
    PARTS_DISAGREE, /* they cannot be parts of one program: it must be compiled in one part */
    PARTS_FAILED,   /* reported: a text is not PTX */
};

struct parts_result {
    struct text ptx;        /* one module */
    size_t several;         /* functions that are in it in several versions */
    const char *difference; /* PARTS_DISAGREE: the difference, as in "size of 'x'" */
};

/* Joins the parts. The result does not depend on how kernels were distributed to them, as far as
 * the code in them does not. It lives in `arena`. */
enum parts_answer parts_join(struct parts_result *result, struct arena *arena,
                             const struct parts_request *request);

/* Writes the directives with which a module begins: those of `module`. */
void parts_write_header(struct buffer *text, const struct ptx_module *module);
