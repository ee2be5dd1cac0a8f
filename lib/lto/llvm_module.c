/* llvm_module.c: loads the library and its functions by name; walks over functions, variables and
 * metadata; and has the passes of a module. */
#include "lto/llvm_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"

struct llvm_api llvm;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define LLVM(type, field, name, ...) {"LLVM" #name, offsetof(struct llvm_api, field)},
#include "lto/llvm_api.def"
#undef LLVM
};

bool llvm_api_load(const char *path, struct buffer *error)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (!library) {
        buffer_string(error, dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(library, functions[i].name);

        if (!address) {
            buffer_printf(error,
                          "it has no function '%s': it must be libLLVM 16 or newer, with the "
                          "target NVPTX",
                          functions[i].name);
            return false;
        }
        memcpy((char *)&llvm + functions[i].offset, &address, sizeof address);
    }
    return true;
}

/* Whether the library has the option: LLVM does not report unknown ones, but the names of known
 * ones are in its file. */
static bool knows_option(struct bytes library, const char *word)
{
    char name[128];
    size_t size;

    word += strspn(word, "-");
    size = strcspn(word, "=");
    if (size == 0 || size >= sizeof name)
        return false;
    memcpy(name, word, size);
    name[size] = '\0';
    return memmem(library.data, library.size, name, size + 1) != NULL;
}

int llvm_api_unknown(const char *path, const char *const *words, int count)
{
    struct bytes library = {0};
    int known = 0;

    file_map(&library, path);
    while (library.size && known < count && knows_option(library, words[known]))
        known++;
    descriptor_unmap(&library);
    return known;
}

#define CPU      "target-cpu"
#define FEATURES "target-features"

unsigned llvm_module_ptx(llvm_module module, unsigned newest)
{
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        llvm_attribute attribute =
            llvm.get_attribute(f, LLVM_FUNCTION_INDEX, FEATURES, sizeof FEATURES - 1);
        unsigned size = 0;
        const char *value = attribute ? llvm.attribute_value(attribute, &size) : NULL;
        struct text list = {value, size}, part;

        while (text_take_part(&list, &part))
            if (text_skip(&part, TEXT("+ptx"))) {
                char number[8];
                unsigned version;

                snprintf(number, sizeof number, "%.*s", TEXT_ARG(part));
                version = (unsigned)strtoul(number, NULL, 10);
                newest = version > newest ? version : newest;
            }
    }
    return newest;
}

void llvm_module_retarget(llvm_module module, const char *cpu, const char *features)
{
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f)) {
        llvm.remove_attribute(f, LLVM_FUNCTION_INDEX, CPU, sizeof CPU - 1);
        llvm.remove_attribute(f, LLVM_FUNCTION_INDEX, FEATURES, sizeof FEATURES - 1);
        llvm.add_attribute(f, CPU, cpu);
        if (*features)
            llvm.add_attribute(f, FEATURES, features);
    }
}

/* Reads a node of nvvm.annotations: a function, and pairs of a word and a number. */
static void add_annotated(llvm_value node, struct table *kernels)
{
    unsigned count = llvm.node_count(node);
    llvm_value *operands = memory_zalloc(count + 1, sizeof *operands);

    llvm.get_node(node, operands);
    for (unsigned i = 1; i + 1 < count && operands[0]; i += 2) {
        unsigned size = 0;
        const char *word = operands[i] ? llvm.get_text(operands[i], &size) : NULL;

        if (word && text_equal((struct text){word, size}, TEXT("kernel")))
            table_set(kernels, llvm_name(operands[0]), 0);
    }
    free(operands);
}

/* Adds kernels from a list in the module, which LLVM up to 19 uses. */
static void add_kernels(llvm_module module, struct table *kernels)
{
    unsigned count = llvm.metadata_count(module, "nvvm.annotations");
    llvm_value *nodes = memory_zalloc(count + 1, sizeof *nodes);

    llvm.get_metadata(module, "nvvm.annotations", nodes);
    for (unsigned i = 0; i < count; i++)
        if (nodes[i])
            add_annotated(nodes[i], kernels);
    free(nodes);
}

static void add_used(llvm_module module, struct table *used)
{
    llvm_value list = llvm.named_global(module, "llvm.used");
    llvm_value values = list ? llvm.get_initializer(list) : NULL;
    int count = values ? llvm.operand_count(values) : 0;

    for (int i = 0; i < count; i++) {
        llvm_value value = llvm.get_operand(values, (unsigned)i);

        while (value && llvm.as_expression(value)) /* skips a cast of the address space */
            value = llvm.get_operand(value, 0);
        if (value)
            table_set(used, llvm_name(value), 0);
    }
}

static bool is_visible(llvm_value value)
{
    switch (llvm.get_linkage(value)) {
    case LLVM_EXTERNAL:
    case LLVM_LINK_ONCE_ANY:
    case LLVM_LINK_ONCE_ODR:
    case LLVM_WEAK_ANY:
    case LLVM_WEAK_ODR:
    case LLVM_COMMON:
        return !llvm.is_declaration(value);
    default:
        return false;
    }
}

static void hide(llvm_value value, const struct table *stays)
{
    struct text name = llvm_name(value);

    if (is_visible(value) && llvm.get_visibility(value) != LLVM_VISIBILITY_PROTECTED &&
        !text_starts(name, TEXT("llvm.")) && table_find(stays, name) == TABLE_NONE)
        llvm.set_linkage(value, LLVM_INTERNAL);
}

void llvm_module_internalize(llvm_module module, struct table *stays)
{
    add_kernels(module, stays);
    add_used(module, stays);
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f))
        if (llvm.get_convention(f) != LLVM_KERNEL_CONVENTION)
            hide(f, stays);
    for (llvm_value g = llvm.first_global(module); g; g = llvm.next_global(g))
        if (!llvm.is_host_initialized(g))
            hide(g, stays);
}

bool llvm_module_drop(llvm_module module, const char *name)
{
    llvm_value list = llvm.named_global(module, name);

    if (list)
        llvm.delete_global(list);
    return list != NULL;
}

/* Rows of passes for each generation of LLVM.
 *
 * They are the passes that LLVM 19 and 16 run for lto<O3>, except those that only handle profiles,
 * other targets or remarks. Measured on libLLVM 19: of 1,000 kernels the last row is 70 % of the
 * work, and the code of all rows is that of lto<O3> to the byte. */

/* The generations differ in how instructions are combined, and in the passes around that. */
#define EARLY "openmp-opt,globaldce,inferattrs,function<eager-inv>(callsite-splitting),ipsccp"
#define PROGRAM(combine, constraints)                                                              \
    "cgscc(function-attrs),rpo-function-attrs,globalsplit,"                                        \
    "wholeprogramdevirt,globalopt,function(mem2reg),constmerge,deadargelim,"                       \
    "function<eager-inv>(" combine ",aggressive-instcombine),"                                     \
    "cgscc(inline<only-mandatory>,inline),globalopt,openmp-opt,globaldce,cgscc(argpromotion),"     \
    "function<eager-inv>(" combine constraints ",jump-threading,sroa<modify-cfg>,tailcallelim),"   \
    "cgscc(function-attrs),cgscc(openmp-opt-cgscc),lowertypetests,elim-avail-extern,globaldce"

/* Facts about variables are computed again, since bitcode does not store them. */
#define FUNCTIONS(combine, alignment, early_combine, late_combine, late)                           \
    "require<globals-aa>,function(invalidate<aa>),"                                                \
    "function<eager-inv>(loop-mssa(licm),gvn,memcpyopt,dse,mldst-motion,"                          \
    "loop(indvars,loop-deletion,loop-unroll-full),loop-distribute,loop-vectorize" alignment        \
    ",loop-unroll<O3>,sroa<preserve-cfg>," combine                                                 \
    ",simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;"        \
    "hoist-common-insts;sink-common-insts>,sccp," combine                                          \
    ",bdce,slp-vectorizer,vector-combine" early_combine ",alignment-from-assumptions" late_combine \
    ",jump-threading),"                                                                            \
    "function(" late "simplifycfg<switch-range-to-icmp;hoist-common-insts>)"

#define COMBINE "instcombine<no-verify-fixpoint>"

static const struct llvm_passes rows[] = {
    {EARLY, PROGRAM(COMBINE, ",constraint-elimination"),
     FUNCTIONS(COMBINE, ",infer-alignment", ",infer-alignment," COMBINE ",loop-mssa(licm)", "",
               "loop-sink,div-rem-pairs,")},
    {EARLY, PROGRAM("instcombine", ""), FUNCTIONS("instcombine", "", "", ",instcombine", "")},
};

static bool takes(llvm_machine machine, const char *passes)
{
    llvm_context context = llvm.create_context();
    llvm_error error = llvm.run_passes(llvm.create_module("probe", context), passes, machine,
                                       llvm.create_pass_options());

    if (error)
        llvm.error_message(error);
    llvm.dispose_context(context);
    return !error;
}

const struct llvm_passes *llvm_module_passes(llvm_machine machine)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (takes(machine, rows[i].early) && takes(machine, rows[i].program) &&
            takes(machine, rows[i].functions))
            return &rows[i];
    return NULL;
}

/* Whether the instruction calls what is neither a constant nor assembly. */
static bool is_indirect_call(llvm_value instruction)
{
    int opcode = llvm.opcode(instruction);
    llvm_value called;

    if (opcode != LLVM_CALL && opcode != LLVM_INVOKE && opcode != LLVM_CALL_BRANCH)
        return false;
    called = llvm.called_value(instruction);
    return !llvm.as_constant(called) && !llvm.as_assembly(called);
}

bool llvm_module_has_indirect_calls(llvm_module module)
{
    for (llvm_value f = llvm.first_function(module); f; f = llvm.next_function(f))
        for (llvm_value b = llvm.first_block(f); b; b = llvm.next_block(b))
            for (llvm_value i = llvm.first_instruction(b); i; i = llvm.next_instruction(i))
                if (is_indirect_call(i))
                    return true;
    return false;
}
