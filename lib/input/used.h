/* used.h: what host objects list: the kernels and variables that host code uses, and module ids.
 *
 * The compiler lists in each host object the device symbols that its host code names:
 * NUL-terminated names, in which `*` stands for any characters, in sections .nvHRKE and .nvHRKI
 * (kernels with external and internal linkage), .nvHRCE and .nvHRCI (constants), .nvHRDE and
 * .nvHRDI (other variables). Measured on nvlink: the lists count when every host object of the
 * link, those in archives included, has such sections, and some kernel is listed outside
 * libcudadevrt. Then a kernel that is not listed is dead, if no device code comes in another form
 * (fatbin, cubin, PTX); for LTO-IR that form does not matter. A merge of cubins never drops a
 * variable, LTO does. -kernels-used and -variables-used replace the lists: then a kernel stays when
 * its name contains one of the strings. -variables-used alone drops all kernels in a merge, and
 * none under LTO. -Xptxas -e then selects among the kernels that stay. */
#pragma once

#include "base/memory.h"
#include "input/file.h"

/* The lists, in the order in which libnvvm's options name them. */
enum used_list {
    USED_EXTERNAL_KERNELS,
    USED_INTERNAL_KERNELS,
    USED_EXTERNAL_CONSTANTS,
    USED_INTERNAL_CONSTANTS,
    USED_EXTERNAL_GLOBALS,
    USED_INTERNAL_GLOBALS,
    USED_LISTS
};

/* A name in a list, in which `*` stands for any characters; or a part of names, of -kernels-used or
 * -variables-used. */
struct used_pattern {
    struct text text;
    size_t start;        /* the size of what is before the first `*`; of a part, all */
    uint32_t next;       /* the one before it with the same start, or TABLE_NONE */
    enum used_list list; /* that it is in */
    uint64_t cost;       /* of a kernel: its share in the device code of its object, in bytes */
};

/* Names of kernels, or of variables. */
struct used_set {
    struct used_pattern *patterns; /* in the order of the inputs */
    size_t count, capacity;
    struct table starts; /* by their starts: the last pattern that begins so */
    size_t *lengths;     /* of those, each once, ascending */
    size_t length_count;
};

/* Whether a kernel is among those that an option selects by a pattern. */
typedef bool used_match(const void *argument, struct text kernel);

/* Start with {0}. */
struct used_names {
    struct arena arena;
    bool is_ignored;       /* -ignore-host-info, and no option names kernels or variables */
    bool has_parts;        /* an option does: the parts count, and not the lists */
    bool has_lists;        /* the lists count, at least for LTO-IR */
    bool is_filter;        /* else every kernel and variable stays */
    bool keeps_kernels;    /* every kernel stays anyway */
    bool is_selection;     /* only kernels in `selected` may stay */
    struct table selected; /* of used_request.entries */
    used_match *matches;   /* selects further kernels; or NULL */
    const void *match_argument;
    const struct text *wanted; /* --undefined: always kept */
    size_t wanted_count;
    struct table wanted_names;
    struct used_set kernels;
    struct used_set variables;
};

struct used_request {
    const char *const *kernels;   /* comma-separated lists; ends with NULL; or NULL */
    const char *const *variables; /* likewise */
    const struct text *entries;   /* names: other kernels are dropped, whatever else keeps them */
    size_t entry_count;           /* 0: no such selection, except by `matches` */
    used_match *matches;          /* kernels that stay beside those, or NULL */
    const void *match_argument;
    const char *const *wanted; /* names that are used, ends with NULL; or NULL */
    bool ignore_host_info;     /* -ignore-host-info */
    bool is_lto;               /* the link makes a whole program under -lto */
};

/* Reads the lists of `inputs`. False, and an error, when an object is damaged. */
bool used_collect(struct used_names *used, const struct inputs *inputs,
                  const struct used_request *request);

/* True when --undefined names it. */
bool used_wants(const struct used_names *used, struct text name);

/* True when the link keeps the kernel of that name. */
bool used_has_kernel(const struct used_names *used, struct text kernel);

/* True when the lists, or the options that replace them, name the kernel; always, when neither
 * counts for LTO-IR. */
bool used_names_kernel(const struct used_names *used, struct text kernel);

/* The same for a variable when LTO-IR is compiled: then the lists count whatever code there is. */
bool used_names_variable(const struct used_names *used, struct text variable);

/* True when host code may name the variable. */
bool used_has_variable(const struct used_names *used, struct text variable);

void used_free(struct used_names *used);

/* The file of -register-link-binaries.
 *
 * Each host object with relocatable device code has a name, its module id, in section
 * __nv_module_id. Its start-up code calls __cudaRegisterLinkedBinary<id>, which is made by
 * compiling nvcc's link.stub with a list of the linked objects' ids:
 *
 *     #define NUM_PRELINKED_OBJECTS 2
 *     DEFINE_REGISTER_FUNC(_ac0448fe_4_a_cu__Z2kaPi)
 *     DEFINE_REGISTER_FUNC(_beb1e710_4_b_cu__Z1fi)
 *
 * An object that nvcc -dlink made registers objects already; it names them as "def <id>". Such ids
 * are left out. All measured on nvlink. */
/* Appends the list for all inputs to `list`; without those of the toolkit's libraries when
 * `without_system`, and the last input first with `last_first`, as nvlink lists those of a program
 * that comes from LTO-IR alone. Files of device code whose names are in `compiled`, which may be
 * NULL, are left out: the link has compiled their LTO-IR, and nvlink lists only host objects then.
 * False, and an error for each, when an id is no C identifier. */
bool modules_list(struct buffer *list, const struct inputs *inputs, const struct table *compiled,
                  bool without_system, bool last_first);
