/* output_abi.h: the two forms of a cubin that drivers know, CUDA 12's and CUDA 13's. */
#pragma once

/* The form of the output. Toolkits up to 12 wrote another ELF header, and no notes; the drivers of
 * their time know no other. */
enum merge_abi {
    MERGE_ABI_AUTO, /* that of the newest input */
    MERGE_ABI_7,    /* of CUDA 12; up to sm_90 only */
    MERGE_ABI_8,
};
