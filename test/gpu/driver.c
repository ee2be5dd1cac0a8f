/* driver.c: the CUDA driver's functions are looked up by name, so that the program needs no CUDA to
 * be built. */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address); /* POSIX: a function's address fits */
    return address != NULL;
}

static bool find_all(void *library, struct driver *driver)
{
    const struct {
        const char *name;
        void *function;
    } names[] = {
        {"cuInit", &driver->init},
        {"cuDeviceGetCount", &driver->device_count},
        {"cuDeviceGet", &driver->device_get},
        {"cuDeviceGetAttribute", &driver->device_attribute},
        {"cuCtxCreate_v2", &driver->context_create},
        {"cuCtxSynchronize", &driver->synchronize},
        {"cuModuleLoadData", &driver->module_load},
        {"cuModuleUnload", &driver->module_unload},
        {"cuModuleGetFunction", &driver->get_function},
        {"cuModuleGetGlobal_v2", &driver->get_global},
        {"cuMemAlloc_v2", &driver->alloc},
        {"cuMemFree_v2", &driver->free},
        {"cuMemcpyHtoD_v2", &driver->copy_to},
        {"cuMemcpyDtoH_v2", &driver->copy_from},
        {"cuLaunchKernel", &driver->launch},
        {"cuGetErrorName", &driver->error_name},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!find(library, names[i].name, names[i].function))
            return false;
    return true;
}

bool driver_open(struct driver *driver, int *device, const char **why)
{
    const char *fake = getenv("FAKE_CUDA");
    void *library = dlopen(fake ? fake : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int count = 0, error;

    if (!library) {
        *why = "there is no libcuda.so.1";
        return false;
    }
    if (!find_all(library, driver)) {
        *why = "the driver lacks functions";
        return false;
    }
    error = driver->init(0);
    if (error) {
        *why = driver_error(driver, error);
        return false;
    }
    if (driver->device_count(&count) || count == 0 || driver->device_get(device, 0)) {
        *why = "there is no device";
        return false;
    }
    return true;
}

const char *driver_error(const struct driver *driver, int error)
{
    const char *name = NULL;

    return driver->error_name(error, &name) || !name ? "unknown error" : name;
}
