/* no_driver.h: keeps libraries from starting CUDA's driver. */
#pragma once

#include <stddef.h>

/* The shared object of preload/no_driver.c, as bytes of this program; made by the Makefile. */
extern const unsigned char no_driver_image[];
extern const size_t no_driver_image_size;

/* Loads a libcuda.so.1 that finds no GPU, so that libraries of this process which ask for that name
 * from now on get this one. For a process that compiles and ends: libnvJitLink 12.9 to 13.5 loads
 * the driver in nvJitLinkCreate and calls cuInit (measured), which takes long, opens the devices,
 * and is of no use to a link. Without memory for it nothing happens. */
void no_driver_load(void);
