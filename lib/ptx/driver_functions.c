/* driver_functions.c: the list that PTX linking and cubin merging share. */
#include "ptx/driver_functions.h"

#include <stddef.h>

bool driver_functions_provides(struct text function)
{
    static const char *const names[] = {
        "__assertfail", "__profile", "free", "malloc", "vfprintf", "vprintf",
        /* dynamic parallelism: what libcudadevrt itself calls */
        "cnpCtxSynchronize", "cnpDeviceGetAttribute", "cnpDeviceGetName", "cnpDeviceGetTotalMem",
        "cnpEventCreate", "cnpEventDestroy", "cnpEventRecord", "cnpFuncGetAttribute",
        "cnpGetCacheConfig", "cnpGetDevice", "cnpGetDeviceCount", "cnpGetLastError", "cnpGetLimit",
        "cnpGetParameterBuffer", "cnpGetParameterBufferV2", "cnpGetSharedMemConfig",
        "cnpLaunchDevice", "cnpLaunchDeviceV2", "cnpSetLastError", "cnpStreamCreate",
        "cnpStreamDestroy", "cnpStreamWaitEvent",
        /* graphs that device code launches and changes */
        "cudaGraphKernelNodeSetEnabled", "cudaGraphKernelNodeSetGridDim",
        "cudaGraphKernelNodeSetParam", "cudaGraphKernelNodeUpdatesApply", "cudaGraphLaunch",
        "cudaGraphSetConditional"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal(function, text_of(names[i])))
            return true;
    return text_starts(function, TEXT("__cuda_syscall"));
}
