/* used.h: which kernels the link keeps.
 *
 * The compiler lists in each host object what its host code names on the device: NUL-terminated
 * names, in which `*` stands for any characters, in sections .nvHRKE and .nvHRKI (kernels with
 * external and internal linkage), .nvHRDE and .nvHRDI (variables), .nvHRCE and .nvHRCI (constants).
 * Measured on nvlink 13.0: when every host object of the link, those in archives included, has such
 * sections, nothing has its device code in another form (fatbin, cubin, PTX), and some kernel is
 * listed outside libcudadevrt, then a kernel that is not listed is dead. Variables always stay.
 * -kernels-used and -variables-used come instead of the lists: then a kernel stays when its name
 * contains one of the strings. What -Xptxas -e selects is a choice among those that stay then. */
#ifndef MINILINK_INPUT_USED_H
#define MINILINK_INPUT_USED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/table.h"
#include "input/file.h"

struct used_pattern;

/* Start with {0}. */
struct used_kernels {
    struct arena arena;
    bool is_filter;        /* else every kernel stays */
    bool is_selection;     /* only those in `selected` stay at most */
    struct table selected; /* of used_request.entries */
    struct text *parts;    /* of -kernels-used */
    size_t part_count;     /* with parts, or without patterns, the lists do not count */
    struct table part_names;
    struct used_pattern *patterns; /* malloc'ed */
    size_t count;
    size_t capacity;
    struct table
        starts;      /* a pattern's characters up to the first `*`: the last one that has them */
    size_t *lengths; /* of those, or of the parts, each once, rising */
    size_t length_count;
};

struct used_request {
    const char *kernels;        /* comma lists, or NULL */
    const char *variables;      /* the same */
    const struct text *entries; /* names: other kernels are dropped, whatever else keeps them */
    size_t entry_count;         /* 0: no such choice */
    bool ignore_host_info;      /* -ignore-host-info */
};

/* Reads the lists of `inputs`. False, and an error, when an object is damaged. */
bool used_collect(struct used_kernels *used, const struct inputs *inputs,
                  const struct used_request *request);

/* True when the link keeps the kernel of that name. */
bool used_has(const struct used_kernels *used, struct text kernel);

void used_free(struct used_kernels *used);

#endif
