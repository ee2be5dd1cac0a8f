/* kernel.h: launching one kernel of a cubin with fixed inputs, and what that leaves behind. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "cubin/cubin.h"
#include "driver.h"

#define MOST_POINTERS 8u

struct image {
    const char *path;
    struct buffer bytes;
    struct cubin cubin;
};

/* How a kernel is launched. */
struct shape {
    char name[1024];
    uint8_t parameters[4096];
    size_t parameter_size;
    uint32_t pointer_at[MOST_POINTERS]; /* offsets of parameters that are pointers */
    size_t pointer_count;
    unsigned grid;
    unsigned block; /* 0: any */
};

/* What a launch left behind. */
struct outcome {
    int error;        /* the driver's */
    char reason[64];  /* its name */
    const char *step; /* that failed, or "run" */
    struct buffer memory;
    struct buffer text; /* that the kernel printed */
};

/* Appends the rest of a file. */
void append_file(struct buffer *buffer, FILE *file);

/* False with a message when the file is no cubin. */
bool image_read(struct image *image, const char *path);

/* The shape of the kernel with that symbol. */
void shape_read(struct shape *shape, const struct cubin *cubin, uint32_t symbol);

/* Images whose outcomes are to be compared; the first is what the others are compared with. */
struct images {
    struct image *all;
    size_t count;
};

/* Launches the kernel of image `i` with that many threads in the current context, with nothing left
 * of the launch but its outcome, unless there is an error. Of variables, those are looked at that
 * all images have: one linker may drop what another keeps. */
void kernel_run(const struct driver *driver, struct outcome *outcome, const struct images *images,
                size_t i, const struct shape *shape, unsigned block);

bool outcome_equals(const struct outcome *one, const struct outcome *two);

void outcome_free(struct outcome *outcome);
