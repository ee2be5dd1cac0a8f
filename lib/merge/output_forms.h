/* output_forms.h: the forms in which a merge gives its results. */
#pragma once

/* In what form the call graph is wanted. */
enum callgraph_form {
    CALLGRAPH_NONE,
    CALLGRAPH_TEXT,    /* nvlink's */
    CALLGRAPH_MANGLED, /* the same, with names as they are */
    CALLGRAPH_DOT,     /* Graphviz */
};

/* The form of the output. Toolkits up to 12 wrote another ELF header, and no notes; the drivers of
 * their time know no other. */
enum merge_abi {
    MERGE_ABI_AUTO, /* that of the newest input */
    MERGE_ABI_7,    /* of CUDA 12; up to sm_90 only */
    MERGE_ABI_8,
};
