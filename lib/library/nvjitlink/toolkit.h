/* toolkit.h: where the libnvJitLink and the ptxas of a CUDA toolkit are. */
#pragma once

#include "base/buffer.h"

/* NVIDIA's library, for the LTO-IR that it alone reads: the file that MINILINK_NVJITLINK names;
 * else the one whose place this library has in a Python environment (minilink-shim(1)); else the
 * first that os/toolkit.h finds without options, or that is in a folder of LD_LIBRARY_PATH. Never
 * this library, under whatever name and in whatever copy. The path is malloc'ed; NULL when there is
 * none. If MINILINK_NVJITLINK names another file, `errors` says so.
 */
char *toolkit_library(struct buffer *errors);

/* The ptxas of such an environment; else that of the toolkit of `library` (or NULL), if minilink
 * would find none by itself, since no variable leads to it. The path is malloc'ed; NULL when
 * minilink finds one, or there is none. */
char *toolkit_ptxas(const char *library);
