/* offload.h: offload binaries, in which clang's new driver puts device code into host objects.
 *
 * Layout (little endian; OffloadBinary.h of LLVM): a header {u8 magic[4] 10 FF 10 AD, u32 version,
 * u64 size of the whole, u64 offset of the entries, u64 their number (version 1: their size, of one
 * entry)}, entries {u16 kind of image, u16 kind of offloading, u32 flags, u64 offset and number of
 * texts, u64 offset and size of the image}, and a list of pairs of texts {u64 offset of the key,
 * u64 of the value; from version 2 on, u64 size of the value}. Offsets are relative to the header.
 * Version 3 has 8 bytes more after its header: the size before compression, or 0. Section
 * .llvm.offloading has such binaries back to back, 8-aligned.
 *
 * Not supported: compressed ones. */
#pragma once

#include "base/text.h"

#define OFFLOAD_SECTION ".llvm.offloading"

#define OFFLOAD_OPENMP 1u

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
