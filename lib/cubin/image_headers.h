/* image_headers.h: an image's three kinds of headers, as they stand in its file. image_layout()
 * comes first. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "cubin/image.h"

Elf64_Ehdr image_headers_file(const struct image *image);

/* That of section `index`. The null section's holds their number where it does not fit. */
Elf64_Shdr image_headers_section(const struct image *image, size_t index);

/* That of segment `index`. */
Elf64_Phdr image_headers_segment(const struct image *image, size_t index);

/* Whether the section brings bytes to the file: without data they are zeros, and those that it
 * shares are another's. */
bool image_headers_contents(const struct image_section *section);
