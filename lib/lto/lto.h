/* lto.h: LTO-IR of all members to one optimised PTX module, by NVIDIA's libnvJitLink.
 *
 * LTO-IR can be read by NVIDIA's libraries only; minilink hands it on as it is. The library of a
 * toolkit, where there is one, optimises across modules and gives PTX back, which then is linked
 * and split like any other. It runs in a copy of this process, so that its crash is an error
 * message, and what it prints a part of that. */
#ifndef MINILINK_LTO_LTO_H
#define MINILINK_LTO_LTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "input/member.h"
#include "lto/toolkit.h"
#include "options/consensus.h"

struct used_names; /* input/used.h */

/* What code of members with LTO-IR is linked under -lto. */
enum lto_source {
    LTO_SOURCE_AUTO,  /* their LTO-IR when libnvJitLink is found, else the PTX beside it */
    LTO_SOURCE_PTX,   /* the PTX beside it */
    LTO_SOURCE_LTOIR, /* their LTO-IR; an error without libnvJitLink */
};

/* Decides whether the members' LTO-IR is linked. Sets *library to the malloc'ed path or name of
 * libnvJitLink when it is, else to NULL. Says so with an info when the PTX stands in for it. False,
 * and a fatal diagnostic with the places tried, when there must be a library and is none. */
bool lto_find(char **library, enum lto_source source, const struct toolkit_request *toolkit);

/* LTO-IR that is not compiled must have PTX or machine code beside it. False, and an error for each
 * that has not, which says how to rebuild it. */
bool lto_refuse_alone(const struct members *members);

/* Warns, in nvlink's words, when -lto was asked for but there is neither LTO-IR nor PTX, which
 * takes its place here. */
void lto_warn_useless(const struct members *members);

struct lto_request {
    const char *library;           /* from lto_find */
    const struct members *members; /* those with role MEMBER_LTO are compiled */
    const struct agreement *agreement;
    const struct option_request *options;
    const char *const *nvvm_options; /* -Xnvvm, ends with NULL; may be NULL */
    const struct used_names *used;   /* what host code uses, where that is known */
    uint32_t thread_limit;           /* --threads; 0 = none */
    bool relocatable;                /* -r: everything stays visible */
};

/* Compiles the LTO-IR of all members with that role. The PTX lives in `arena`. Where other members
 * take part with PTX or machine code, which may refer to any function, all that is visible stays so
 * ("partial LTO"), and an info names those members. False when reported. */
bool lto_compile(struct text *ptx, struct arena *arena, const struct lto_request *request);

#endif
