/* inspect.h: what an input is, and what its fatbin entry says about it. */
#pragma once

#include "base/arch.h"
#include "base/buffer.h"
#include "input/fatbin.h"
#include "input/file.h"

/* What the command line says about an input; zeros leave it to the content. */
struct inspect_request {
    struct arch arch;
    enum fatbin_kind kind;
    bool is_32bit;
};

/* An input, ready to be packed. Start with {0}; free with inspect_free. */
struct image {
    enum fatbin_kind kind;
    struct arch arch;
    uint16_t major, minor; /* of the PTX ISA, the ELF ABI or the LTO-IR */
    struct bytes code;     /* a view of the input, or of `text` */
    struct bytes compat;   /* contents of the cubin's .nv.compat, from sm_100 on; else empty */
    struct buffer text;    /* PTX, reduced, with one NUL */
};

/* Inspects `file`. False, and errors, when its kind or architecture cannot be told, contradicts the
 * request, or the file is damaged. */
bool inspect_file(const struct input_file *file, const struct inspect_request *request,
                  struct image *image);

void inspect_free(struct image *image);
