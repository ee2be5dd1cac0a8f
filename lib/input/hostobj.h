/* hostobj.h: finding device code in host ELF files, and in offload binaries.
 *
 * Relocatable device code is in section __nv_relfatbin, whole-program code and linked cubins in
 * .nv_fatbin (measured). `ld -r` and ld put the fatbins of several objects back to back, 8-aligned,
 * so a section may hold several containers. clang's new driver puts device code into section
 * .llvm.offloading instead (below).
 *
 * GCC's compiler for nvptx (measured on 12.2) keeps its bytecode in sections .gnu.offload_lto_* of
 * objects. When the program is linked, PTX is made of it, several texts, each a string constant
 * among the others in .rodata. An executable with such texts has section .gnu.offload_funcs, the
 * host's table of the kernels. */
#pragma once

#include "base/context.h"
#include "os/elf_file.h"

/* Where nvcc puts fatbins, with -dc or -rdc=true and without, and a module's id. */
#define HOSTOBJ_RELOCATABLE   "__nv_relfatbin"
#define HOSTOBJ_WHOLE_PROGRAM ".nv_fatbin"
#define HOSTOBJ_MODULE_ID     "__nv_module_id"

/* A position in an ELF file. */
struct hostobj {
    const char *name; /* for messages */
    struct elf_file file;
    size_t total;    /* size of the sections found so far */
    bool is_damaged; /* reported */
    size_t code;     /* index of the section of device code whose name is searched */
};

/* Opens the ELF file `data`. One that is damaged has no sections. hostobj_close ends its use. */
void hostobj_open(struct hostobj *object, const char *name, struct bytes data);

/* `object` is a struct hostobj. */
void hostobj_close(void *object);

/* Opens one that is closed when the block ends. */
#define HOSTOBJ_OPEN(object, name, data)                                                           \
    CONTEXT_DEFER(hostobj_close, (object));                                                        \
    hostobj_open((object), (name), (data))

/* Finds the next section of that name, whose contents are a view of the object; after the last one
 * it is false, and the next call begins anew. One that is damaged is passed over, and ends the
 * search for other names. */
bool hostobj_next(struct hostobj *object, const char *section, struct bytes *contents);

/* The same for sections of device code, of any of their names, which is in *section. */
bool hostobj_next_code(struct hostobj *object, const char **section, struct bytes *contents);

/* Finds the last section of that name. */
bool hostobj_find(struct hostobj *object, const char *section, struct bytes *contents);

/* The sections of GCC's bytecode, and of the table of kernels, and what has the PTX texts. */
#define HOSTOBJ_GCC_BYTECODE ".gnu.offload_lto_.opts"
#define HOSTOBJ_GCC_KERNELS  ".gnu.offload_funcs"
#define HOSTOBJ_GCC_TEXTS    ".rodata"

/* Takes GCC's next PTX text off the constants. False when there is none. */
bool hostobj_next_text(struct bytes *constants, struct text *ptx);

/* True for a shared object: an ELF file of type ET_DYN that is no executable. Position-independent
 * executables are ET_DYN too; they name an interpreter or have the flag DF_1_PIE. */
bool hostobj_is_shared(struct bytes data);

/* Offload binaries, in which clang's new driver puts device code into host objects.
 *
 * Layout (little endian; OffloadBinary.h of LLVM): a header, entries, and lists of texts. Offsets
 * are relative to the header. Version 3 has 8 bytes more after its header: the size before
 * compression, or 0. Section .llvm.offloading has such binaries back to back, 8-aligned.
 *
 * Not supported: compressed ones. */
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
