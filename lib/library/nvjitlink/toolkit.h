/* toolkit.h: where the libnvJitLink and the ptxas of a CUDA toolkit are. */
#pragma once

#include "base/buffer.h"

/* NVIDIA's library, for the LTO-IR that it alone reads: the file that MINILINK_NVJITLINK names;
 * else the first that os/toolkit.h finds without options, or that is in a folder of
 * LD_LIBRARY_PATH. Never this library, under whatever name and in whatever copy. The path is
 * malloc'ed; NULL when there is none. When MINILINK_NVJITLINK names none, `errors` says so. */
char *toolkit_library(struct buffer *errors);

/* A ptxas that minilink would not find by itself, as no variable leads to it: that of the toolkit
 * which `library` (or NULL) is of. The path is malloc'ed; NULL when minilink finds one, or there is
 * none. */
char *toolkit_ptxas(const char *library);
