/* llvm_api.h: libLLVM through its stable C interface, loaded by name.
 *
 * Own declarations of the functions used from llvm-c (Core.h, BitReader.h, BitWriter.h, Linker.h,
 * Target.h, TargetMachine.h, Transforms/PassBuilder.h, Error.h, Support.h of LLVM 16 to 22):
 * nothing is linked against, and no LLVM header is needed. LLVMBool is an int, non-zero for true,
 * which most functions return on failure. */
#pragma once

#include "base/memory.h"
#include "base/text.h"

typedef struct llvm_context *llvm_context;
typedef struct llvm_module *llvm_module;
typedef struct llvm_value *llvm_value; /* also a use, and a block of a function */
typedef struct llvm_type *llvm_type;
typedef struct llvm_attribute *llvm_attribute;
typedef struct llvm_buffer *llvm_buffer;
typedef struct llvm_layout *llvm_layout;
typedef struct llvm_target *llvm_target;
typedef struct llvm_machine *llvm_machine;
typedef struct llvm_pass_options *llvm_pass_options;
typedef struct llvm_error *llvm_error;
typedef struct llvm_reader *llvm_reader; /* a pass manager for functions, without any passes */
typedef struct llvm_diagnostic *llvm_diagnostic;
typedef void llvm_diagnostic_handler(llvm_diagnostic diagnostic, void *argument);

/* Values of LLVM's enumerations. */
enum { LLVM_LEVEL_NONE, LLVM_LEVEL_LESS, LLVM_LEVEL_DEFAULT, LLVM_LEVEL_AGGRESSIVE };
enum { LLVM_SEVERITY_ERROR, LLVM_SEVERITY_WARNING, LLVM_SEVERITY_REMARK, LLVM_SEVERITY_NOTE };
enum {
    LLVM_INVOKE = 5,
    LLVM_LOAD = 27,
    LLVM_STORE,
    LLVM_GET_ELEMENT,
    LLVM_BIT_CAST = 41,
    LLVM_CALL = 45,
    LLVM_SPACE_CAST = 60,
    LLVM_CALL_BRANCH = 67,
};
enum { LLVM_VISIBILITY_DEFAULT, LLVM_VISIBILITY_HIDDEN, LLVM_VISIBILITY_PROTECTED };
enum {
    LLVM_EXTERNAL,
    LLVM_AVAILABLE_EXTERNALLY,
    LLVM_LINK_ONCE_ANY,
    LLVM_LINK_ONCE_ODR,
    LLVM_WEAK_ANY = 5,
    LLVM_WEAK_ODR,
    LLVM_APPENDING,
    LLVM_INTERNAL,
    LLVM_PRIVATE,
    LLVM_COMMON = 14,
};

#define LLVM_ASSEMBLY_FILE     0
#define LLVM_SHARED_SPACE      3u    /* NVPTX's .shared */
#define LLVM_FUNCTION_INDEX    (~0u) /* index of a function's own attributes */
#define LLVM_KERNEL_CONVENTION 71u   /* ptx_kernel; from LLVM 20 on all kernels have it */

/* Its functions (llvm_api.def). One for the process, which runs one job with one library. */
extern struct llvm_api {
#define LLVM(type, field, name, ...) type (*field)(__VA_ARGS__);
#include "lto/llvm_api.def"
#undef LLVM
} llvm;

/* The value's name; empty if it has none. */
static inline struct text llvm_name(llvm_value value)
{
    struct text name = {NULL, 0};

    name.data = llvm.get_name(value, &name.size);
    return name;
}

/* Loads the library. False, with the reason in `error`, when it cannot be loaded or lacks a
 * function, as versions before LLVM 16 do. */
bool llvm_api_load(const char *path, struct buffer *error);

/* Index of the first of `count` words that is not an option of the library at `path`; `count` when
 * all are. An unreadable library has no options. */
int llvm_api_unknown(const char *path, const char *const *words, int count);
