/* fork_server_image.h: the shared object of preload/fork_server.c, as bytes of this program. */
#pragma once

#include <stddef.h>

extern const unsigned char fork_server_image[];
extern const size_t fork_server_image_size;
