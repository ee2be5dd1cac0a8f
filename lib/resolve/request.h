/* request.h: what a merge is to do. */
#pragma once

#include <stdbool.h>

#include "facts/targets.h"
#include "cubin/cubin.h"

/* Format of the call graph. */
enum callgraph_form {
    CALLGRAPH_NONE,
    CALLGRAPH_TEXT,    /* nvlink's */
    CALLGRAPH_MANGLED, /* the same, with mangled names */
};

/* Format of the output. Toolkits up to 12 wrote another ELF header and no notes; drivers of that
 * time accept no other format. */
enum merge_abi {
    MERGE_ABI_AUTO, /* that of the newest input */
    MERGE_ABI_7,    /* of CUDA 12; up to sm_90 only */
    MERGE_ABI_8,
};

struct members;    /* input/member.h */
struct used_names; /* input/used.h */

struct merge_request {
    struct arch arch;
    const struct toolkit_facts *toolkit; /* the one whose nvlink is followed; not NULL */
    bool debug;                          /* -g: nothing is dead, all debug sections are kept */
    bool relocatable;                    /* -r */
    const struct used_names *used; /* which kernels live, unless debug or relocatable; NULL = all */
    const struct members *members; /* all members of the inputs, for notes; may be NULL */
    const struct cubin *made;      /* an array: the cubins of the chunks */
    size_t made_count;
    bool takes_first;            /* of several definitions, with a warning */
    bool suppress_stack_warning; /* -suppress-stack-size-warning */
    bool keep_exported;          /* -ewp: keep functions that another link may call */
    bool preserve_relocations;   /* -preserve-relocs: resolved relocations are listed too */
    bool tools_patch;            /* -astoolspatch: every function must be compiled for it */
    bool strip_debug;            /* omit what only debuggers and profilers read */
    bool sass_only;              /* omit the Mercury twins */
    bool has_extended_shared;    /* --enable-extended-smem: kernels may have more than 48 KiB */
    bool has_no_reserved_shared; /* --disable-smem-reservation: without the driver's bytes */
    bool wants_places;           /* fill in merge_report.places */
    bool has_index;              /* -uidx: an index of unified symbols was given */
    enum callgraph_form callgraph;
    enum merge_abi abi;
    const char *output_name; /* base name of the output, for the tool note under -g */
    const char *version;     /* minilink's version, for the tool note */
};
