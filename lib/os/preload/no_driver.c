/* no_driver.c: a libcuda.so.1 for processes that compile but must not start CUDA's driver: it
 * answers as the driver does on a machine without a GPU. */

#define CUDA_ERROR_NO_DEVICE 100

int cuInit(unsigned flags);

int cuInit(unsigned flags)
{
    (void)flags;
    return CUDA_ERROR_NO_DEVICE;
}
