/* merge.h: relocatable cubins to one image, by the rules that nvlink 13.0 was measured to follow
 * (minilink-cubin(5) states them).
 *
 * Not supported, and refused by name: loaded sections and relocation types that are not listed in
 * format.h. The second form of code that cubins hold from sm_100 on is merged too, or left out with
 * a warning (mercury.h).
 */
#ifndef MINILINK_MERGE_MERGE_H
#define MINILINK_MERGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "cubin/cubin.h"
#include "cubin/image.h"
#include "merge/graph_print.h"
#include "merge/output_abi.h"

struct used_names; /* input/used.h */

struct merge_request {
    struct arch arch;
    bool debug;                    /* -g: nothing is dead, all debug sections are kept */
    bool relocatable;              /* -r */
    const struct used_names *used; /* which kernels live, unless debug or relocatable; NULL = all */
    bool suppress_stack_warning;   /* -suppress-stack-size-warning */
    bool preserve_relocations;     /* -preserve-relocs: those that are resolved are listed too */
    bool has_index;                /* -uidx: an index of unified symbols was given */
    enum callgraph_form callgraph;
    enum merge_abi abi;
    const char *output_name; /* base name of the output, for the tool note under -g */
    const char *version;     /* minilink's version, for the tool note */
};

/* What the link made, for -v and reports. */
struct kernel_report {
    struct text name;
    bool is_kernel; /* else a device function */
    uint32_t registers;
    uint32_t barriers;
    uint32_t stack;     /* bytes; UINT32_MAX = cannot be determined */
    uint32_t shared;    /* bytes, with the driver's reserve */
    uint32_t reserved;  /* how many of them are the driver's */
    uint32_t constant0; /* bytes of bank 0: parameters */
    uint32_t constant2; /* bytes of bank 2: the assembler's own constants */
    uint32_t textures;  /* references, each with a word in bank 0 */
    uint32_t surfaces;
    uint32_t samplers;
};

/* Start with {0}. */
struct merge_report {
    struct arena arena;
    struct kernel_report *kernels; /* in the order of the symbols; device functions among them */
    size_t kernel_count;
    uint64_t global_bytes;    /* .nv.global and .nv.global.init */
    uint64_t constant3_bytes; /* user constants */
    struct buffer callgraph;  /* in the form that was asked for */
    size_t dead_functions;
    const char **dead_names;
};

/* Merges `count` cubins (at least 1; see empty.h), in that order, into *image and lays it out.
 * Errors and warnings in nvlink's words; all errors of a step are reported before it fails.
 * `report` may be NULL. The image has views into the cubins. */
bool merge_cubins(struct image *image, const struct cubin *const *cubins, size_t count,
                  const struct merge_request *request, struct merge_report *report);

void merge_report_free(struct merge_report *report);

#endif
