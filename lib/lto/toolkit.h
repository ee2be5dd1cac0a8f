/* toolkit.h: where a CUDA toolkit is, as far as its libraries are wanted.
 *
 * A toolkit is a folder with bin/, lib64/ (or targets/<machine>/lib/) and nvvm/. Users may have
 * none, one, several, or scripts on PATH that run the tools of one elsewhere. */
#ifndef MINILINK_LTO_TOOLKIT_H
#define MINILINK_LTO_TOOLKIT_H

#include "base/buffer.h"

/* What the command line says; each may be NULL. */
struct toolkit_request {
    const char *nvjitlink; /* --nvjitlink: the library itself */
    const char *cuda_path; /* --cuda-path: the toolkit */
    const char *nvvm_path; /* -nvvmpath: <toolkit>/nvvm */
};

/* Looks for libnvJitLink: what --nvjitlink or --cuda-path names, and nothing else when one is
 * given; then beside -nvvmpath, in CUDA_HOME, in CUDA_PATH, beside the programs nvcc and ptxas on
 * PATH, and in the folder that nvcc, asked by `nvcc -dryrun`, calls its own. Returns a malloc'ed
 * path, or NULL with the places in `tried`. Nothing is loaded and nothing reported. */
char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct buffer *tried);

#endif
