/* pack_offload.h: writing offload binaries, the counterpart of input/offload.h. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "inspect.h"

/* Appends a binary of version 1, which all of LLVM's read, with `contents`, that is the input as it
 * is, as its image, for CUDA. False, and an error that names `name`, when it is LTO-IR. */
bool pack_offload_append(struct buffer *binaries, const struct image *image, struct bytes contents,
                         const char *name);
