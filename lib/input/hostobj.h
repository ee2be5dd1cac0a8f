/* hostobj.h: finding device code in host ELF files.
 *
 * Relocatable device code is in section __nv_relfatbin, whole-program code and linked cubins in
 * .nv_fatbin (measured). `ld -r` and ld put the fatbins of several objects back to back, 8-aligned,
 * so a section may hold several containers. clang's new driver puts device code into section
 * .llvm.offloading instead (input/offload.h).
 *
 * GCC's compiler for nvptx (measured on 12.2) keeps its bytecode in sections .gnu.offload_lto_* of
 * objects. When the program is linked, PTX is made of it, several texts, each a string constant
 * among the others in .rodata. An executable with such texts has section .gnu.offload_funcs, the
 * host's table of the kernels. */
#pragma once

#include "base/context.h"
#include "input/offload.h"
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
