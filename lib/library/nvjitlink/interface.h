/* interface.h: the interface that programs written for NVIDIA's libnvJitLink call: the types,
 * numbers and functions of nvJitLink.h 13.5, declared anew. They are nvJitLink's in name and
 * meaning; minilink-nvjitlink(7) says what is different.
 *
 * Each function has several names: the plain one, and those with the versions that the toolkits'
 * headers call (versions.def). nvJitLinkVersion has the plain one only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

typedef enum {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_MISSING_ARCH = 2,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_PTX_COMPILE = 4,
    NVJITLINK_ERROR_NVVM_COMPILE = 5,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_THREADPOOL = 7,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_FINALIZE = 9,
    NVJITLINK_ERROR_NULL_INPUT = 10,
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_ERROR_ARCH_MISMATCH = 13,
    NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
    NVJITLINK_ERROR_MISSING_FATBIN = 15,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18,
} nvJitLinkResult;

typedef enum {
    NVJITLINK_INPUT_NONE = 0,
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,
    NVJITLINK_INPUT_LIBRARY = 6,
    NVJITLINK_INPUT_INDEX = 7,
    NVJITLINK_INPUT_ANY = 10,
} nvJitLinkInputType;

/* One link. */
typedef struct nvJitLink *nvJitLinkHandle;

/* Creates a link with `count` options. If an option is wrong there is a handle, too, whose error
 * log says what is wrong; it must be destroyed like any other. */
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t count,
                                const char *const *options);

/* Frees the link and sets *handle to NULL. */
nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle);

/* Adds an input from memory; `size` bytes at `data` are copied. `name` is for messages, or NULL. */
nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                 size_t size, const char *name);

/* Adds a file as an input; it is read during this call. */
nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char *path);

/* Links the inputs. May be called once. */
nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);

/* The size and the bytes of the linked cubin. */
nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin);

/* The same for the PTX that `-lto -ptx` makes; the size includes the NUL at its end. */
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx);

/* The same for the LTO-IR that `-lto` makes of all LTO-IR. */
nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *ltoir);

/* The logs. The size includes the NUL, but is 0 for an empty log, whose text is only a NUL. */
nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log);
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log);

/* The version of the interface: 13 and 5, or 12 and 9. */
nvJitLinkResult nvJitLinkVersion(unsigned *major, unsigned *minor);

#pragma GCC visibility pop
