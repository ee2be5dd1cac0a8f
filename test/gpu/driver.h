/* driver.h: the few functions of the CUDA driver that the GPU tests need, by dlopen: the tests
 * build without CUDA, and say so where there is no driver. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CUctx_st *driver_context;
typedef struct CUmod_st *driver_module;
typedef struct CUfunc_st *driver_function;
typedef uint64_t driver_pointer;

/* CUresult is an int-sized enum; 0 = success. */
struct driver {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*context_create)(driver_context *context, unsigned flags, int device);
    int (*synchronize)(void);
    int (*module_load)(driver_module *module, const void *image);
    int (*module_unload)(driver_module module);
    int (*get_function)(driver_function *function, driver_module module, const char *name);
    int (*get_global)(driver_pointer *pointer, size_t *size, driver_module module,
                      const char *name);
    int (*alloc)(driver_pointer *pointer, size_t size);
    int (*free)(driver_pointer pointer);
    int (*copy_to)(driver_pointer to, const void *from, size_t size);
    int (*copy_from)(void *to, driver_pointer from, size_t size);
    int (*launch)(driver_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                  void *stream, void **parameters, void **extra);
    int (*error_name)(int error, const char **name);
};

/* Attributes of a device, and words of launch()'s `extra` (cuda.h). */
enum { DRIVER_MAJOR = 75, DRIVER_MINOR = 76 };
#define DRIVER_PARAMETERS      ((void *)1)
#define DRIVER_PARAMETERS_SIZE ((void *)2)

/* Loads libcuda.so.1 (FAKE_CUDA names another) and starts it. False with the reason in *why when
 * there is no driver, or no device. */
bool driver_open(struct driver *driver, int *device, const char **why);

/* "CUDA_ERROR_ILLEGAL_ADDRESS". */
const char *driver_error(const struct driver *driver, int error);
