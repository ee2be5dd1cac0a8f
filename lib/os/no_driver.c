/* no_driver.c: loads it from a file in memory. */
#include "os/no_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "os/descriptor.h"

void no_driver_load(void)
{
    int fd = descriptor_memory_file("minilink-no-driver");
    char path[32];

    if (fd < 0)
        return;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (descriptor_write(fd, no_driver_image, no_driver_image_size))
        dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(fd);
}
