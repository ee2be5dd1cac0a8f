/* driver.c: stands in for libcuda.so.1, so that tests of Python packages that only link run where
 * there is no GPU: one device of compute capability 9.0, whose modules load and have every
 * function. Nothing runs on it, and what is not here is CUDA_ERROR_NOT_SUPPORTED. DRIVER_VERSION:
 * what it says to be, as 13050. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SUPPORTED 801

/* Handles point here, each one elsewhere than those before it. */
static char things[1 << 16];

static int give(void **handle)
{
    static size_t count;

    *handle = &things[count++ % sizeof things];
    return 0;
}

static int number(int *place, int value)
{
    *place = value;
    return 0;
}

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    const char *text = getenv("DRIVER_VERSION");

    return number(version, text ? atoi(text) : 0);
}

int cuDeviceGetCount(int *count)
{
    return number(count, 1);
}

int cuDeviceGet(int *device, int ordinal)
{
    return number(device, ordinal);
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "none");
    return 0;
}

int cuDeviceGetUuid_v2(char *uuid, int device)
{
    (void)device;
    memset(uuid, 0, 16);
    return 0;
}

/* The numbers are those of cuda.h: 8 is shared memory of a block, 75 and 76 the capability. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    return number(value, attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 8 ? 49152 : 64);
}

/* There is one context. */
static int give_context(void **context)
{
    static char only;

    *context = &only;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    return give_context(context);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    return number(active, 1);
}

int cuCtxGetCurrent(void **context)
{
    return give_context(context);
}

int cuCtxSetCurrent(void *context)
{
    (void)context;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    return number(device, 0);
}

int cuCtxPushCurrent_v2(void *context)
{
    (void)context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    return give_context(context);
}

int cuCtxSynchronize(void)
{
    return 0;
}

int cuMemGetInfo_v2(size_t *rest, size_t *all)
{
    *rest = *all = (size_t)1 << 34;
    return 0;
}

/* The memory of the device is that of the process. */
int cuMemAlloc_v2(void **place, size_t size)
{
    *place = calloc(1, size);
    return *place ? 0 : 2;
}

int cuMemFree_v2(void *place)
{
    free(place);
    return 0;
}

int cuMemcpyHtoD_v2(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, const void *from, size_t size)
{
    return cuMemcpyHtoD_v2(to, from, size);
}

int cuLaunchKernel(void *function)
{
    (void)function;
    return 0;
}

int cuLibraryLoadData(void **library)
{
    return give(library);
}

int cuLibraryGetKernel(void **kernel)
{
    return give(kernel);
}

int cuKernelGetFunction(void **function)
{
    return give(function);
}

int cuModuleLoadDataEx(void **module)
{
    return give(module);
}

int cuModuleGetFunction(void **function)
{
    return give(function);
}

int cuLibraryUnload(void *library)
{
    (void)library;
    return 0;
}

int cuModuleUnload(void *module)
{
    (void)module;
    return 0;
}

int cuFuncGetAttribute(int *value)
{
    return number(value, 1);
}

int cuKernelGetAttribute(int *value)
{
    return number(value, 1);
}

int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "there is no driver";
    return 0;
}

/* NVRTC asks for a table, whose first word is its size, and looks no further in one of 8 bytes. */
int cuGetExportTable(const void **table)
{
    static const size_t size = sizeof(size_t);

    *table = &size;
    return 0;
}

static int other(void)
{
    return NOT_SUPPORTED;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                        int *status)
{
    int (*const without)(void) = other;
    char newer[128];

    (void)version;
    (void)flags;
    snprintf(newer, sizeof newer, "%s_v2", name);
    *function = dlsym(RTLD_DEFAULT, newer);
    if (!*function)
        *function = dlsym(RTLD_DEFAULT, name);
    if (!*function)
        memcpy(function, &without, sizeof without);
    if (status)
        *status = 0;
    return 0;
}

int cuGetProcAddress(const char *name, void **function, int version, unsigned long long flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
