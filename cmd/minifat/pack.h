/* pack.h: writing fatbins and offload binaries, the counterpart of input/fatbin.h and offload.h. */
#pragma once

#include "base/buffer.h"
#include "base/text.h"
#include "inspect.h"

enum pack_compression {
    PACK_DEFAULT, /* PTX, and cubins with debug information, by zstd; the rest stored */
    PACK_STORED,
    PACK_LZ4,
    PACK_ZSTD,
};

/* What all entries of a container have in common. */
struct pack_request {
    enum pack_compression compression;
    struct text identity; /* source file name; empty = none */
    bool debug;
    bool is_32bit;
    bool concatenates; /* PACK_DEFAULT means zstd for all but LTO-IR */
};

/* Cubins that become one entry. Start with {0}. */
struct pack_parts {
    struct buffer records, payload;
    unsigned count;
};

/* Appends the container's header; pack_end() fills in the size. */
void pack_begin(struct buffer *container);

/* Appends one entry with the option string `options` (cubins have none). LTO-IR is always stored.
 * False, and an error that names `name`, when the code cannot be compressed. */
bool pack_entry(struct buffer *container, const struct image *image, struct text options,
                const struct pack_request *request, const char *name);

/* Adds a cubin to `parts`. False, and an error that names `name`, where they become too large. */
bool pack_part(struct pack_parts *parts, const struct image *image,
               const struct pack_request *request, const char *name);

/* Appends `parts` as one entry, compressed. False, and an error, when that cannot be. */
bool pack_concatenated(struct buffer *container, const struct pack_parts *parts,
                       const struct pack_request *request);

void pack_end(struct buffer *container);

/* Appends an offload binary of version 1, which every LLVM reads, for CUDA, with `contents`, the
 * unchanged input, as its image. False, and an error that names `name`, when it is LTO-IR. */
bool pack_offload(struct buffer *binaries, const struct image *image, struct bytes contents,
                  const char *name);
