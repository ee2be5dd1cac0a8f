/* offload.h: offload binaries, in which clang's new driver puts device code into host objects.
 *
 * Layout (little endian; OffloadBinary.h of LLVM): a header, entries, and lists of texts. Offsets
 * are relative to the header. Version 3 has 8 bytes more after its header: the size before
 * compression, or 0. Section .llvm.offloading has such binaries back to back, 8-aligned.
 *
 * Not supported: compressed ones. */
#pragma once

#include "base/text.h"

#define OFFLOAD_SECTION ".llvm.offloading"
#define OFFLOAD_MAGIC   0xad10ff10u /* 10 FF 10 AD */

/* Kinds of images, of those that have one, and their producers. */
enum { OFFLOAD_BITCODE = 2, OFFLOAD_CUBIN, OFFLOAD_FATBINARY, OFFLOAD_PTX };
enum { OFFLOAD_OPENMP = 1, OFFLOAD_CUDA };

struct offload_header {
    uint32_t magic, version;
    uint64_t size;    /* of the whole */
    uint64_t entries; /* their offset */
    uint64_t count;   /* of entries; version 1: the size of the only one */
};

struct offload_entry {
    uint16_t kind, producer;
    uint32_t flags;
    uint64_t texts, text_count; /* offset and number of pairs: a key and its value */
    uint64_t image, image_size; /* offset and size */
};

/* A pair of texts, which end with a NUL. */
struct offload_pair {
    uint64_t key, value;
    uint64_t size; /* of the value; from version 2 on */
};

/* One image, with views of the binary. */
struct offload_image {
    unsigned number;    /* in the file or section, from 1 */
    uint16_t kind;      /* as its writer declares it: see offload_kind_name */
    uint16_t producer;  /* 1 OpenMP, 2 CUDA, 4 HIP (3 up to LLVM 19), 8 SYCL */
    struct text triple; /* "nvptx64-nvidia-cuda"; empty = not given */
    struct text arch;   /* "sm_90" */
    struct bytes data;
};

/* Called for each image. Returns false to stop. */
typedef bool offload_visit(void *argument, const struct offload_image *image);

/* True when `data` begins with the magic. */
bool offload_is(struct bytes data);

/* Visits the images of all binaries in `data`, in their order. False when a visit returned false,
 * or with an error that names `name` and the offset when something is damaged. */
bool offload_walk(const char *name, struct bytes data, offload_visit *visit, void *argument);

/* True for NVIDIA's GPUs. */
bool offload_is_device(const struct offload_image *image);

/* "bitcode", "cubin", ...; "unknown" for other numbers. */
const char *offload_kind_name(uint16_t kind);
