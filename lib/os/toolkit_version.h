/* toolkit_version.h: which CUDA toolkit a ptxas is of. */
#pragma once

/* The version of the toolkit that the ptxas at `path` belongs to, times ten (135 is CUDA 13.5): as
 * its file says, or, where that is a script or says nothing, as it answers to --version. 0 when
 * neither tells, with *error 0, or when it could not be learnt for want of memory, processes or
 * descriptors, with that errno in *error: another toolkit's rules must not be followed then. The
 * last answer is kept for the process while the file is unchanged. For any thread. */
unsigned toolkit_version_of(const char *path, int *error);
