/* toolkit.h: where the libnvJitLink and the ptxas of a CUDA toolkit are. */
#pragma once

#include "library/nvjitlink/text.h"

/* NVIDIA's library, for the LTO-IR that it alone reads: the file that MINILINK_NVJITLINK names;
 * else the first that is found in CUDA_HOME, CUDA_PATH, beside nvcc or ptxas on PATH, and in a
 * folder of LD_LIBRARY_PATH. Never this library, under whatever name and in
 * whatever copy. The path is the caller's; NULL when there is none. When MINILINK_NVJITLINK names
 * none, `errors` says so. */
char *toolkit_library(struct log *errors);

/* A ptxas that minilink would not find by itself, as no variable leads to it: that of the toolkit
 * which `library` (or NULL) is of. The path is the caller's; NULL when minilink finds one, or there
 * is none. */
char *toolkit_ptxas(const char *library);
