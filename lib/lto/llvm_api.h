/* llvm_api.h: libLLVM through its stable C interface, loaded by name.
 *
 * Own declarations of the functions used from llvm-c (Core.h, BitReader.h, BitWriter.h, Linker.h,
 * Target.h, TargetMachine.h, Transforms/PassBuilder.h, Error.h, Support.h of LLVM 16 to 22):
 * nothing is linked against, and no LLVM header is needed. LLVMBool is an int, non-zero for true,
 * which most functions return on failure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
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

/* Type, name here, name in LLVM, parameters. */
#define LLVM_FUNCTIONS(F)                                                                          \
    F(void, get_version, GetVersion, (unsigned *major, unsigned *minor, unsigned *patch))          \
    F(void, dispose_message, DisposeMessage, (char *message))                                      \
    F(void, parse_options, ParseCommandLineOptions,                                                \
      (int argc, const char *const *argv, const char *overview))                                   \
    F(llvm_context, create_context, ContextCreate, (void))                                         \
    F(void, dispose_context, ContextDispose, (llvm_context context))                               \
    F(void, set_handler, ContextSetDiagnosticHandler,                                              \
      (llvm_context context, llvm_diagnostic_handler * handler, void *argument))                   \
    F(int, get_severity, GetDiagInfoSeverity, (llvm_diagnostic diagnostic))                        \
    F(char *, get_description, GetDiagInfoDescription, (llvm_diagnostic diagnostic))               \
    F(llvm_buffer, make_buffer, CreateMemoryBufferWithMemoryRange,                                 \
      (const char *data, size_t size, const char *name, int is_terminated))                        \
    F(const char *, buffer_start, GetBufferStart, (llvm_buffer buffer))                            \
    F(size_t, buffer_size, GetBufferSize, (llvm_buffer buffer))                                    \
    F(int, parse_bitcode, ParseBitcodeInContext2,                                                  \
      (llvm_context context, llvm_buffer buffer, llvm_module * module))                            \
    F(int, open_bitcode, GetBitcodeModuleInContext2,                                               \
      (llvm_context context, llvm_buffer buffer, llvm_module * module))                            \
    F(llvm_reader, create_reader, CreateFunctionPassManagerForModule, (llvm_module module))        \
    F(int, read_function, RunFunctionPassManager, (llvm_reader reader, llvm_value function))       \
    F(llvm_module, create_module, ModuleCreateWithNameInContext,                                   \
      (const char *name, llvm_context context))                                                    \
    F(int, link_modules, LinkModules2, (llvm_module target, llvm_module source))                   \
    F(void, set_target, SetTarget, (llvm_module module, const char *triple))                       \
    F(void, set_layout, SetModuleDataLayout, (llvm_module module, llvm_layout layout))             \
    F(int, strip_debug_info, StripModuleDebugInfo, (llvm_module module))                           \
    F(llvm_value, first_function, GetFirstFunction, (llvm_module module))                          \
    F(llvm_value, next_function, GetNextFunction, (llvm_value function))                           \
    F(llvm_value, first_global, GetFirstGlobal, (llvm_module module))                              \
    F(llvm_value, next_global, GetNextGlobal, (llvm_value global))                                 \
    F(llvm_value, named_global, GetNamedGlobal, (llvm_module module, const char *name))            \
    F(llvm_value, get_initializer, GetInitializer, (llvm_value global))                            \
    F(int, is_declaration, IsDeclaration, (llvm_value global))                                     \
    F(int, is_host_initialized, IsExternallyInitialized, (llvm_value global))                      \
    F(int, get_linkage, GetLinkage, (llvm_value global))                                           \
    F(void, set_linkage, SetLinkage, (llvm_value global, int linkage))                             \
    F(int, get_visibility, GetVisibility, (llvm_value global))                                     \
    F(const char *, get_name, GetValueName2, (llvm_value value, size_t size[]))                    \
    F(unsigned, get_convention, GetFunctionCallConv, (llvm_value function))                        \
    F(void, set_name, SetValueName2, (llvm_value value, const char *name, size_t size))            \
    F(void, delete_global, DeleteGlobal, (llvm_value global))                                      \
    F(llvm_type, get_type, TypeOf, (llvm_value value))                                             \
    F(unsigned, address_space, GetPointerAddressSpace, (llvm_type type))                           \
    F(const char *, get_assembly, GetModuleInlineAsm, (llvm_module module, size_t size[]))         \
    F(llvm_value, first_alias, GetFirstGlobalAlias, (llvm_module module))                          \
    F(llvm_value, first_block, GetFirstBasicBlock, (llvm_value function))                          \
    F(llvm_value, next_block, GetNextBasicBlock, (llvm_value block))                               \
    F(llvm_value, first_instruction, GetFirstInstruction, (llvm_value block))                      \
    F(llvm_value, next_instruction, GetNextInstruction, (llvm_value instruction))                  \
    F(llvm_value, instruction_block, GetInstructionParent, (llvm_value instruction))               \
    F(llvm_value, block_function, GetBasicBlockParent, (llvm_value block))                         \
    F(llvm_value, first_use, GetFirstUse, (llvm_value value))                                      \
    F(llvm_value, next_use, GetNextUse, (llvm_value use))                                          \
    F(llvm_value, get_user, GetUser, (llvm_value use))                                             \
    F(llvm_value, as_instruction, IsAInstruction, (llvm_value value))                              \
    F(int, opcode, GetInstructionOpcode, (llvm_value instruction))                                 \
    F(llvm_value, called_value, GetCalledValue, (llvm_value call))                                 \
    F(llvm_value, as_assembly, IsAInlineAsm, (llvm_value value))                                   \
    F(int, expression_opcode, GetConstOpcode, (llvm_value expression))                             \
    F(llvm_buffer, write_bitcode, WriteBitcodeToMemoryBuffer, (llvm_module module))                \
    F(int, operand_count, GetNumOperands, (llvm_value value))                                      \
    F(llvm_value, get_operand, GetOperand, (llvm_value value, unsigned index))                     \
    F(llvm_value, as_expression, IsAConstantExpr, (llvm_value value))                              \
    F(llvm_value, as_constant, IsAConstant, (llvm_value value))                                    \
    F(llvm_value, as_global, IsAGlobalValue, (llvm_value value))                                   \
    F(unsigned, metadata_count, GetNamedMetadataNumOperands,                                       \
      (llvm_module module, const char *name))                                                      \
    F(void, get_metadata, GetNamedMetadataOperands,                                                \
      (llvm_module module, const char *name, llvm_value *nodes))                                   \
    F(unsigned, node_count, GetMDNodeNumOperands, (llvm_value node))                               \
    F(void, get_node, GetMDNodeOperands, (llvm_value node, llvm_value * operands))                 \
    F(const char *, get_text, GetMDString, (llvm_value value, unsigned *size))                     \
    F(llvm_attribute, get_attribute, GetStringAttributeAtIndex,                                    \
      (llvm_value function, unsigned index, const char *name, unsigned size))                      \
    F(const char *, attribute_value, GetStringAttributeValue,                                      \
      (llvm_attribute attribute, unsigned *size))                                                  \
    F(void, remove_attribute, RemoveStringAttributeAtIndex,                                        \
      (llvm_value function, unsigned index, const char *name, unsigned size))                      \
    F(void, add_attribute, AddTargetDependentFunctionAttr,                                         \
      (llvm_value function, const char *name, const char *value))                                  \
    F(void, init_target_info, InitializeNVPTXTargetInfo, (void))                                   \
    F(void, init_target, InitializeNVPTXTarget, (void))                                            \
    F(void, init_target_mc, InitializeNVPTXTargetMC, (void))                                       \
    F(void, init_printer, InitializeNVPTXAsmPrinter, (void))                                       \
    F(int, find_target, GetTargetFromTriple,                                                       \
      (const char *triple, llvm_target *target, char **message))                                   \
    F(llvm_machine, create_machine, CreateTargetMachine,                                           \
      (llvm_target target, const char *triple, const char *cpu, const char *features, int level,   \
       int relocation_model, int code_model))                                                      \
    F(void, dispose_machine, DisposeTargetMachine, (llvm_machine machine))                         \
    F(llvm_layout, create_layout, CreateTargetDataLayout, (llvm_machine machine))                  \
    F(int, emit, TargetMachineEmitToMemoryBuffer,                                                  \
      (llvm_machine machine, llvm_module module, int file_type, char **message,                    \
       llvm_buffer *buffer))                                                                       \
    F(llvm_pass_options, create_pass_options, CreatePassBuilderOptions, (void))                    \
    F(llvm_error, run_passes, RunPasses,                                                           \
      (llvm_module module, const char *passes, llvm_machine machine, llvm_pass_options options))   \
    F(char *, error_message, GetErrorMessage, (llvm_error error))

struct llvm_api {
#define LLVM_FIELD(type, field, name, parameters) type(*field) parameters;
    LLVM_FUNCTIONS(LLVM_FIELD)
#undef LLVM_FIELD
};

/* The value's name; empty if it has none. */
static inline struct text llvm_name(const struct llvm_api *api, llvm_value value)
{
    struct text name = {NULL, 0};

    name.data = api->get_name(value, &name.size);
    return name;
}

/* Loads the library. False, with the reason in `error`, when it cannot be loaded or lacks a
 * function, as versions before LLVM 16 do. */
bool llvm_api_load(struct llvm_api *api, const char *path, struct buffer *error);

/* Index of the first of `count` words that is not an option of the library at `path`; `count` when
 * all are. An unreadable library has no options. */
int llvm_api_unknown(const char *path, const char *const *words, int count);
