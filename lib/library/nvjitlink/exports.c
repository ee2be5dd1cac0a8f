/* exports.c: the functions that programs call, under all their names.
 *
 * Compiled once for each library: with NVJITLINK_MAJOR 12 for libnvJitLink.so.12, without it for
 * libnvJitLink.so.13. nvJitLinkVersion() has the plain name only. */
#include "library/nvjitlink/link.h"
#include "library/nvjitlink/versions.def"

#ifndef NVJITLINK_MAJOR
#define NVJITLINK_MAJOR 13
#endif

#if NVJITLINK_MAJOR == 12
#define VERSIONS NVJITLINK_VERSIONS_12
#else
#define VERSIONS NVJITLINK_VERSIONS_13
#endif

#define ALIAS(major, minor, name, parameters)                                                      \
    nvJitLinkResult __##name##_##major##_##minor parameters                                        \
        __attribute__((alias(#name), visibility("default")));

/* The number of minor versions, which begin with 0. */
#define ONE(major, minor, ...) +1
#define NEWEST                 (VERSIONS(ONE, ) - 1)

/* Results that are new in 13.0, as programs of CUDA 12 know them: its headers end with
 * NVJITLINK_ERROR_FINALIZE. Most follow the header of 12.6, which defines the new names as old
 * ones; it lacks the last three: that of LTO-IR without -lto is measured on 12.9, the others are
 * those that it documents for the function. */
static nvJitLinkResult known(nvJitLinkResult result)
{
    if (NVJITLINK_MAJOR > 12)
        return result;
    switch (result) {
    case NVJITLINK_ERROR_NULL_INPUT:
    case NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS:
    case NVJITLINK_ERROR_INCORRECT_INPUT_TYPE:
    case NVJITLINK_ERROR_MISSING_FATBIN:
        return NVJITLINK_ERROR_INVALID_INPUT;
    case NVJITLINK_ERROR_ARCH_MISMATCH:
    case NVJITLINK_ERROR_OUTDATED_LIBRARY:
    case NVJITLINK_ERROR_LTO_NOT_ENABLED:
        return NVJITLINK_ERROR_INTERNAL;
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
    case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    default:
        return result;
    }
}

/* A function of the interface, which returns what `call` does. */
#define EXPORT(name, parameters, call)                                                             \
    VERSIONS(ALIAS, name, parameters)                                                              \
    nvJitLinkResult name parameters                                                                \
    {                                                                                              \
        return known(call);                                                                        \
    }

EXPORT(nvJitLinkCreate, (nvJitLinkHandle * handle, uint32_t count, const char *const *options),
       link_create(handle, count, options, NVJITLINK_MAJOR * 10 + NEWEST))
EXPORT(nvJitLinkDestroy, (nvJitLinkHandle * handle), link_destroy(handle))
EXPORT(nvJitLinkAddData,
       (nvJitLinkHandle handle, nvJitLinkInputType type, const void *data, size_t size,
        const char *name),
       link_add_data(handle, type, data, size, name))
EXPORT(nvJitLinkAddFile, (nvJitLinkHandle handle, nvJitLinkInputType type, const char *path),
       link_add_file(handle, type, path))
EXPORT(nvJitLinkComplete, (nvJitLinkHandle handle), link_complete(handle))
EXPORT(nvJitLinkGetLinkedCubinSize, (nvJitLinkHandle handle, size_t *size),
       link_get(handle, OUTPUT_CUBIN, size, NULL))
EXPORT(nvJitLinkGetLinkedCubin, (nvJitLinkHandle handle, void *cubin),
       link_get(handle, OUTPUT_CUBIN, NULL, cubin))
EXPORT(nvJitLinkGetLinkedPtxSize, (nvJitLinkHandle handle, size_t *size),
       link_get(handle, OUTPUT_PTX, size, NULL))
EXPORT(nvJitLinkGetLinkedPtx, (nvJitLinkHandle handle, char *ptx),
       link_get(handle, OUTPUT_PTX, NULL, ptx))
#if NVJITLINK_MAJOR > 12 /* measured: new in 13.2, with the names of 13.0 and 13.1, too */
EXPORT(nvJitLinkGetLinkedLTOIRSize, (nvJitLinkHandle handle, size_t *size),
       link_get(handle, OUTPUT_LTOIR, size, NULL))
EXPORT(nvJitLinkGetLinkedLTOIR, (nvJitLinkHandle handle, void *ltoir),
       link_get(handle, OUTPUT_LTOIR, NULL, ltoir))
#endif
EXPORT(nvJitLinkGetErrorLogSize, (nvJitLinkHandle handle, size_t *size),
       link_get_log(handle, true, size, NULL))
EXPORT(nvJitLinkGetErrorLog, (nvJitLinkHandle handle, char *log),
       link_get_log(handle, true, NULL, log))
EXPORT(nvJitLinkGetInfoLogSize, (nvJitLinkHandle handle, size_t *size),
       link_get_log(handle, false, size, NULL))
EXPORT(nvJitLinkGetInfoLog, (nvJitLinkHandle handle, char *log),
       link_get_log(handle, false, NULL, log))

nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return known(NVJITLINK_ERROR_NULL_INPUT);
    *major = NVJITLINK_MAJOR;
    *minor = NEWEST;
    return NVJITLINK_SUCCESS;
}

/* No header has this, but NVIDIA's libraries from 12.4 on export it. What it is for is not known:
 * it returns 0 for every number up to 13999 and for addresses, and writes nothing (measured on
 * 12.4, 12.9, 13.0 and 13.5). */
void *__nvJitLinkAPI(void) __attribute__((visibility("default")));
void *__nvJitLinkAPI(void)
{
    return NULL;
}
