/* output_forms.h: the formats of a merge's results. */
#pragma once

/* Format of the call graph. */
enum callgraph_form {
    CALLGRAPH_NONE,
    CALLGRAPH_TEXT,    /* nvlink's */
    CALLGRAPH_MANGLED, /* the same, with mangled names */
    CALLGRAPH_DOT,     /* Graphviz */
};

/* Format of the output. Toolkits up to 12 wrote another ELF header and no notes; drivers of that
 * time accept no other format. */
enum merge_abi {
    MERGE_ABI_AUTO, /* that of the newest input */
    MERGE_ABI_7,    /* of CUDA 12; up to sm_90 only */
    MERGE_ABI_8,
};
