/* toolkit.h: where the files of a CUDA toolkit are that minilink uses: ptxas and libnvJitLink.
 *
 * A toolkit is a folder with bin/, lib64/ (or targets/<machine>/lib/) and nvvm/. Users may have
 * none, one, several, or scripts on PATH that run the tools of one elsewhere. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"

/* What the command line says; each may be NULL. */
struct toolkit_request {
    const char *file;      /* --ptxas, --nvjitlink: the file itself */
    const char *cuda_path; /* --cuda-path: the toolkit */
    const char *nvvm_path; /* -nvvmpath: <toolkit>/nvvm */
    /* Which files are a libnvJitLink; NULL = all that are regular. */
    bool (*is_library)(const char *path);
};

/* Both look for what `file` or cuda_path names, and for nothing else when one is given; then beside
 * -nvvmpath, in CUDA_HOME, in CUDA_PATH, and by PATH. They return a malloc'ed path, or NULL with
 * the places in `tried`, which may be NULL. Nothing found is run or loaded, and nothing reported.
 */

/* On PATH: in each folder. */
char *toolkit_find_ptxas(const struct toolkit_request *request, struct buffer *tried);

/* On PATH: beside the programs nvcc and ptxas, and then in the folder that nvcc, asked by `nvcc
 * -dryrun`, calls its own. */
char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried);
