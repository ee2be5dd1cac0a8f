/* exports.c: the functions that programs call, under all their names.
 *
 * Compiled once for each library: with NVJITLINK_MAJOR 12 for libnvJitLink.so.12, without it for
 * libnvJitLink.so.13. The header of each toolkit calls names with its own version, and a library
 * keeps those of the older ones of its major version; nvJitLinkVersion() has the plain name only.
 * The names are the same from 12.0 to 13.0 (headers 12.0, 12.3, 12.4, 12.6 and 13.0). */
#include "library/nvjitlink/link.h"

#ifndef NVJITLINK_MAJOR
#define NVJITLINK_MAJOR 13
#endif

#define ALIAS(name, version, parameters)                                                           \
    nvJitLinkResult __##name##_##version parameters                                                \
        __attribute__((alias(#name), visibility("default")))

#if NVJITLINK_MAJOR == 12
#define MINOR 9
#define VERSIONED(name, parameters)                                                                \
    ALIAS(name, 12_0, parameters);                                                                 \
    ALIAS(name, 12_1, parameters);                                                                 \
    ALIAS(name, 12_2, parameters);                                                                 \
    ALIAS(name, 12_3, parameters);                                                                 \
    ALIAS(name, 12_4, parameters);                                                                 \
    ALIAS(name, 12_5, parameters);                                                                 \
    ALIAS(name, 12_6, parameters);                                                                 \
    ALIAS(name, 12_7, parameters);                                                                 \
    ALIAS(name, 12_8, parameters);                                                                 \
    ALIAS(name, 12_9, parameters)
#else
#define MINOR                       0
#define VERSIONED(name, parameters) ALIAS(name, 13_0, parameters)
#endif

/* Results that are new in 13.0, as programs of CUDA 12 know them: its headers end with
 * NVJITLINK_ERROR_FINALIZE. Most follow the header of 12.6, which defines the new names as old
 * ones; it lacks the last three, whose results are those that it documents for the function. */
static nvJitLinkResult known(nvJitLinkResult result)
{
    if (NVJITLINK_MAJOR > 12)
        return result;
    switch (result) {
    case NVJITLINK_ERROR_NULL_INPUT:
    case NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS:
    case NVJITLINK_ERROR_INCORRECT_INPUT_TYPE:
    case NVJITLINK_ERROR_MISSING_FATBIN:
    case NVJITLINK_ERROR_LTO_NOT_ENABLED:
        return NVJITLINK_ERROR_INVALID_INPUT;
    case NVJITLINK_ERROR_ARCH_MISMATCH:
    case NVJITLINK_ERROR_OUTDATED_LIBRARY:
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
    VERSIONED(name, parameters);                                                                   \
    nvJitLinkResult name parameters                                                                \
    {                                                                                              \
        return known(call);                                                                        \
    }

EXPORT(nvJitLinkCreate, (nvJitLinkHandle * handle, uint32_t count, const char *const *options),
       link_create(handle, count, options, NVJITLINK_MAJOR))
EXPORT(nvJitLinkDestroy, (nvJitLinkHandle * handle), link_destroy(handle))
EXPORT(nvJitLinkAddData,
       (nvJitLinkHandle handle, nvJitLinkInputType type, const void *data, size_t size,
        const char *name),
       link_add_data(handle, type, data, size, name))
EXPORT(nvJitLinkAddFile, (nvJitLinkHandle handle, nvJitLinkInputType type, const char *path),
       link_add_file(handle, type, path))
EXPORT(nvJitLinkComplete, (nvJitLinkHandle handle), link_complete(handle))
EXPORT(nvJitLinkGetLinkedCubinSize, (nvJitLinkHandle handle, size_t *size),
       link_get_size(handle, false, size))
EXPORT(nvJitLinkGetLinkedCubin, (nvJitLinkHandle handle, void *cubin),
       link_get_bytes(handle, false, cubin))
EXPORT(nvJitLinkGetLinkedPtxSize, (nvJitLinkHandle handle, size_t *size),
       link_get_size(handle, true, size))
EXPORT(nvJitLinkGetLinkedPtx, (nvJitLinkHandle handle, char *ptx),
       link_get_bytes(handle, true, ptx))
EXPORT(nvJitLinkGetErrorLogSize, (nvJitLinkHandle handle, size_t *size),
       link_get_log_size(handle, true, size))
EXPORT(nvJitLinkGetErrorLog, (nvJitLinkHandle handle, char *log), link_get_log(handle, true, log))
EXPORT(nvJitLinkGetInfoLogSize, (nvJitLinkHandle handle, size_t *size),
       link_get_log_size(handle, false, size))
EXPORT(nvJitLinkGetInfoLog, (nvJitLinkHandle handle, char *log), link_get_log(handle, false, log))

nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return known(NVJITLINK_ERROR_NULL_INPUT);
    *major = NVJITLINK_MAJOR;
    *minor = MINOR;
    return NVJITLINK_SUCCESS;
}
