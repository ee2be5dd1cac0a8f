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

#include "base/text.h"

/* Called for each such section's contents, a view of the object. Returns false to stop. */
typedef bool hostobj_visit(void *argument, const char *section, struct bytes data);

/* Visits the sections with device code of the ELF file `data`: __nv_relfatbin, then .nv_fatbin,
 * then .llvm.offloading. False when a visit returned false, or with an error when the ELF file is
 * damaged. */
bool hostobj_walk(const char *name, struct bytes data, hostobj_visit *visit, void *argument);

/* Called for a PTX text. Returns false to stop. */
typedef bool hostobj_visit_text(void *argument, struct text text);

/* Visits the PTX texts of an executable that GCC made, in their order; *has_bytecode is set to
 * whether the file has GCC's bytecode instead. False when a visit returned false, or with an error
 * when the ELF file is damaged. */
bool hostobj_walk_gcc(const char *name, struct bytes data, hostobj_visit_text *visit,
                      void *argument, bool *has_bytecode);

/* Visits the sections of each name, one after the other, as hostobj_walk does; one without contents
 * is an empty view. */
bool hostobj_walk_names(const char *name, struct bytes data, const char *const *wanted,
                        size_t count, hostobj_visit *visit, void *argument);

/* True for a shared object: an ELF file of type ET_DYN that is no executable. Position-independent
 * executables are ET_DYN too; they name an interpreter or have the flag DF_1_PIE. */
bool hostobj_is_shared(struct bytes data);
