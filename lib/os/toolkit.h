/* toolkit.h: finds the files of a CUDA toolkit that minilink uses: ptxas and libnvJitLink.
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
    /* Whether a file is a libnvJitLink; NULL = any regular file is. */
    bool (*is_library)(const char *path);
};

/* If `file` or cuda_path is given, both look only there; otherwise beside -nvvmpath, in CUDA_HOME,
 * in CUDA_PATH, and along PATH. They return a malloc'ed path, or NULL with the places in `tried`,
 * which may be NULL. They neither run nor load what they find, and report nothing. */

/* On PATH: in each folder. */
char *toolkit_find_ptxas(const struct toolkit_request *request, struct buffer *tried);

/* On PATH: beside the programs nvcc and ptxas, and then in the folder that nvcc, asked by `nvcc
 * -dryrun`, calls its own. */
char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried);
