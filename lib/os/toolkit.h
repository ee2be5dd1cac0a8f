/* toolkit.h: the files of a CUDA toolkit that minilink uses: ptxas and libnvJitLink.
 *
 * A toolkit is a folder with bin/ and lib64/ (or lib/, targets/<machine>/lib/). pip puts one into
 * nvidia/cu13 of an environment's site-packages, or, before 13.0, into nvidia/cuda_nvcc and
 * nvidia/nvjitlink. Where a toolkit can be named, its environment, the environment's site-packages
 * or their folder "nvidia" can be, too. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"

/* What to do about a tool that is too old, for a message that goes on. */
#define TOOLKIT_NAME_IT                                                                            \
    "Name a newer toolkit, or the environment that pip installed it into, by --cuda-path= or "     \
    "CUDA_HOME"

/* What the command line says; each may be NULL. */
struct toolkit_request {
    const char *file;      /* --ptxas, --nvjitlink: the file itself */
    const char *ptxas;     /* --ptxas, where libnvJitLink is looked for */
    const char *cuda_path; /* --cuda-path: the toolkit */
    const char *nvvm_path; /* -nvvmpath: <toolkit>/nvvm */
    /* Whether a file is a libnvJitLink; NULL = any regular file is. */
    bool (*is_library)(const char *path);
};

/* How a search went. Start with {0}. */
struct toolkit_search {
    struct buffer tried; /* the places that were searched in vain, for a message */
    const char *why;     /* the place where it was found: "CUDA_HOME" */
};

/* If `file` or cuda_path is given, both look only there; otherwise beside -nvvmpath, in CUDA_HOME,
 * in CUDA_PATH, along PATH, in the environments VIRTUAL_ENV and CONDA_PREFIX, and in
 * /usr/local/cuda where neither CUDA_HOME nor CUDA_PATH is set. They return a malloc'ed path, or
 * NULL; `search` may be NULL. They neither load nor run what they find, and report nothing. */

/* On PATH: in each folder. */
char *toolkit_find_ptxas(const struct toolkit_request *request, struct toolkit_search *search);

/* First in the toolkit of --ptxas; in each place in that of its ptxas, if there are several. On
 * PATH: beside the programs nvcc and ptxas, then in nvcc's own folder, by `nvcc -dryrun`. */
char *toolkit_find_nvjitlink(const struct toolkit_request *request, struct toolkit_search *search);

/* Whether it is a regular file. */
bool toolkit_is_file(const char *path);

/* Frees the contents of a struct toolkit_search; for CONTEXT_DEFER. */
void toolkit_search_cleanup(void *search);

/* Which CUDA toolkit a ptxas is of. */
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

/* The shared object of preload/no_driver.c, as bytes of this program; made by the Makefile. */
extern const unsigned char no_driver_image[];
extern const size_t no_driver_image_size;

/* Loads a libcuda.so.1 that finds no GPU, so that libraries of this process which ask for that name
 * from now on get this one. For a process that compiles and ends: libnvJitLink 12.9 to 13.5 loads
 * the driver in nvJitLinkCreate and calls cuInit (measured), which takes long, opens the devices,
 * and is of no use to a link. Without memory for it nothing happens. */
void no_driver_load(void);
