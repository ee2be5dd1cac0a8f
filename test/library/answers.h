/* answers.h: small links, and what functions should answer. */
#pragma once

#include "library/links.h"
#include "library/tally.h"

#define KERNEL_PTX                                                                                 \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k()\n{\n\tret;\n}\n"
#define CALLER_PTX                                                                                 \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".extern .func missing();\n"                                                                   \
    ".visible .entry caller()\n{\n\tcall.uni missing;\n\tret;\n}\n"
#define WRONG_PTX                                                                                  \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry wrong()\n{\n\tnonsense.b32 %r1;\n\tret;\n}\n"

/* Whether the code is this; both are named. */
static inline bool is(const char *what, int code, int expected)
{
    return check(code == expected, "%s: %s, not %s", what, minilink_code_name(code),
                 minilink_code_name(expected));
}

static inline struct minilink *begin(const char *option)
{
    struct minilink *link = NULL;

    is("create", minilink_create(&link, &option, option ? 1 : 0), MINILINK_OK);
    return link;
}

static inline int add_text(struct minilink *link, const char *text, const char *name)
{
    return minilink_add_data(link, MINILINK_INPUT_PTX, text, strlen(text), name);
}

static inline bool says(const struct minilink *link, const char *text)
{
    return check(strstr(minilink_error_log(link, NULL), text), "'%s' is not in the log: %s", text,
                 minilink_error_log(link, NULL));
}

/* Completes and destroys the link; `said`, where it is not NULL, is in its log of errors. */
static inline void complete(struct minilink **link, const char *what, int expected,
                            const char *said)
{
    is(what, minilink_complete(*link), expected);
    if (said)
        says(*link, said);
    minilink_destroy(link);
}

static inline void has_no_result(const struct minilink *link, const char *when)
{
    struct minilink_kernel kernel = {.code = 7};
    size_t size = 1;

    check(!minilink_cubin(link, &size) && !size, "%s: a cubin", when);
    size = 1;
    check(!minilink_ptx(link, &size) && !size, "%s: PTX", when);
    check(minilink_kernel_count(link) == 0, "%s: kernels", when);
    is(when, minilink_kernel(link, 0, &kernel, sizeof kernel), MINILINK_USAGE);
    check(kernel.code == 7, "%s: an untouched kernel", when);
}
