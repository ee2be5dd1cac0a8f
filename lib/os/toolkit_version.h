/* toolkit_version.h: which CUDA toolkit a ptxas is of. */
#pragma once

#include <stdbool.h>

struct toolkit_version {
    unsigned number; /* times ten (135 is CUDA 13.5); 0 when nothing tells it */
    bool is_listed;  /* the file says that it is the very build that facts/toolkits.def names */
    int error;       /* errno when it could not be learnt for want of memory, processes or
                        descriptors: another toolkit's rules must not be followed then */
};

/* The version of the toolkit that the ptxas at `path` belongs to: as its file says, or, where that
 * is a script or says nothing, as it answers to --version. The last answer is kept for the process
 * while the file is unchanged. For any thread. */
struct toolkit_version toolkit_version_of(const char *path);
