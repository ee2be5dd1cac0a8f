/* tool_bitcode.c: writes a random program of several modules as LLVM bitcode, for
 * test/jobs/random-bitcode.sh.
 *
 *     tool_bitcode LIBLLVM SEED FOLDER     writes FOLDER/0.bc, FOLDER/1.bc ...
 *     tool_bitcode LIBLLVM - FILE          writes what LLVM's assembly on standard input is
 *
 * In some are: functions that are internal (of one name in several modules), linkonce in several,
 * or visible; calls across modules, by address too; variables that are internal or visible, shared
 * ones of one kernel or several, constants that point to functions. Kernels reach all. The same
 * seed gives the same program with any libLLVM. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define MOST_MODULES 4u
#define FUNCTIONS    5u /* of a module; the last but one is in all of them, the last is local */

static uint64_t state;
static unsigned module_count;
static FILE *out;
static unsigned values; /* of the function at hand; the last one is its result so far */

static unsigned below(unsigned bound)
{
    return random_below(&state, bound);
}

/* Function `f` of module `m`. */
static void put_name(unsigned m, unsigned f)
{
    if (f + 1 == FUNCTIONS)
        fprintf(out, "@local");
    else if (f + 2 == FUNCTIONS)
        fprintf(out, "@everywhere");
    else if (f == 1) /* as LLVM names what it counts in a function */
        fprintf(out, "@prototype_%u_f", m);
    else
        fprintf(out, "@f_%u_%u", m, f);
}

static void put_call(unsigned m, unsigned f)
{
    fprintf(out, "  %%v%u = call i32 ", values);
    put_name(m, f);
    fprintf(out, "(i32 %%v%u)\n", values - 1);
    values++;
}

static void put_arithmetic(void)
{
    static const char *const words[] = {"add", "mul", "xor", "sub", "and"};

    fprintf(out, "  %%v%u = %s i32 %%v%u, ", values, words[below(5)], values - 1);
    if (below(2))
        fprintf(out, "%%v%u\n", below(values));
    else
        fprintf(out, "%u\n", below(1000) + 1);
    values++;
}

/* Reads a variable and writes another value to it. */
static void put_access(unsigned m)
{
    static const char *const names[] = {"addrspace(1) @own", "addrspace(3) @tile",
                                        "addrspace(1) @visible_"};
    unsigned which = below(3), other = which == 2 ? below(module_count) : m;
    char name[40];

    snprintf(name, sizeof name, which == 2 ? "%s%u" : "%s", names[which], other);
    fprintf(out, "  %%v%u = load i32, ptr %s\n", values, name);
    fprintf(out, "  store i32 %%v%u, ptr %s\n", values - 1, name);
    values++;
}

static void put_branch(void)
{
    unsigned at = values;

    fprintf(out,
            "  %%c%u = icmp slt i32 %%v%u, %u\n  br i1 %%c%u, label %%then%u, label %%end%u\n"
            "then%u:\n  store i32 %%v%u, ptr addrspace(1) @own\n  br label %%end%u\nend%u:\n",
            at, at - 1, below(100), at, at, at, at, at - 1, at, at);
    put_arithmetic(); /* the next one has other labels */
}

static void put_indirect(unsigned m)
{
    fprintf(out,
            "  %%a%u = getelementptr [2 x ptr], ptr addrspace(1) @table_%u, i32 0, i32 %u\n"
            "  %%p%u = load volatile ptr, ptr addrspace(1) %%a%u\n  %%v%u = call i32 %%p%u(i32 "
            "%%v%u)\n",
            values, m, below(2), values, values, values, values, values - 1);
    values++;
}

/* What becomes a table in memory. */
static void put_switch(void)
{
    unsigned at = values, count = below(6) + 6;

    fprintf(out, "  switch i32 %%v%u, label %%else%u [\n", at - 1, at);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "    i32 %u, label %%case%u_%u\n", i, at, i);
    fprintf(out, "  ]\nelse%u:\n  br label %%out%u\n", at, at);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "case%u_%u:\n  br label %%out%u\n", at, i, at);
    fprintf(out, "out%u:\n  %%v%u = phi i32 [%u, %%else%u]", at, values++, below(1000), at);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, ", [%u, %%case%u_%u]", below(100000), at, i);
    fprintf(out, "\n");
    put_arithmetic();
}

/* Memory of a thread that registers cannot take the place of. */
static void put_memory(void)
{
    fprintf(out,
            "  %%m%u = alloca [9 x i32]\n  %%i%u = and i32 %%v%u, 7\n"
            "  %%e%u = getelementptr [9 x i32], ptr %%m%u, i32 0, i32 %%i%u\n"
            "  store volatile i32 %%v%u, ptr %%e%u\n  %%v%u = load volatile i32, ptr %%e%u\n",
            values, values, values - 1, values, values, values, below(values), values, values,
            values);
    values++;
}

static void put_statements(unsigned m, unsigned most)
{
    for (unsigned i = 0, count = below(most) + 2; i < count; i++)
        switch (below(8)) {
        case 0:
            put_access(m);
            break;
        case 1:
            put_branch();
            break;
        case 2:
            put_switch();
            break;
        case 3:
            put_memory();
            break;
        default:
            put_arithmetic();
        }
}

static void put_function(unsigned m, unsigned f)
{
    static const char *const linkages[] = {"", "weak_odr ", "internal "};
    bool is_local = f + 1 == FUNCTIONS, is_everywhere = f + 2 == FUNCTIONS;
    uint64_t before = state;

    if (is_everywhere) /* the same in all */
        state = 7;
    values = 1;
    fprintf(out, "define %si32 ",
            is_local        ? linkages[2]
            : is_everywhere ? "linkonce_odr "
                            : linkages[below(2)]);
    put_name(m, f);
    fprintf(out, "(i32 %%v0) %s{\n", below(2) ? "noinline " : "");
    if (is_everywhere)
        for (unsigned i = 0; i < 4; i++)
            put_arithmetic();
    else
        put_statements(m, 12);
    if (f == 1 && m > 0)
        put_call(below(m), 0);
    fprintf(out, "  ret i32 %%v%u\n}\n", values - 1);
    if (is_everywhere)
        state = before;
}

static void put_kernel(unsigned m, unsigned k)
{
    fprintf(out,
            "define void @k_%u_%u(ptr addrspace(1) %%to) {\n  %%v0 = load i32, ptr "
            "addrspace(1) %%to\n",
            m, k);
    values = 1;
    put_statements(m, 20);
    for (unsigned f = 0; f < FUNCTIONS; f++)
        put_call(m, f);
    if (below(2))
        put_indirect(m);
    fprintf(out, "  store i32 %%v%u, ptr addrspace(1) %%to\n", values - 1);
    if (k == 0)
        fprintf(out, "  store volatile i32 %%v%u, ptr addrspace(3) @alone\n", values - 1);
    fprintf(out, "  ret void\n}\n");
}

static void put_module(unsigned m, unsigned kernels)
{
    fprintf(out,
            "target triple = \"nvptx64-nvidia-cuda\"\n"
            "@own = internal addrspace(1) global i32 %u\n"
            "@tile = internal addrspace(3) global i32 undef\n"
            "@alone = internal addrspace(3) global i32 undef\n"
            "@table_%u = internal addrspace(1) global [2 x ptr] [ptr @local, ptr @f_%u_0]\n",
            below(9), m, m);
    for (unsigned i = 0; i < module_count; i++) {
        fprintf(out, "@visible_%u = %saddrspace(1) %sglobal i32%s\n", i, i == m ? "" : "external ",
                i == m ? "externally_initialized " : "", i == m ? " 3" : "");
        if (i < m)
            fprintf(out, "declare i32 @f_%u_0(i32)\n", i);
    }
    for (unsigned f = 0; f < FUNCTIONS; f++)
        put_function(m, f);
    for (unsigned k = 0; k < kernels; k++)
        put_kernel(m, k);
    fprintf(out, "!nvvm.annotations = !{");
    for (unsigned k = 0; k < kernels; k++)
        fprintf(out, "%s!%u", k ? ", " : "", k);
    fprintf(out, "}\n");
    for (unsigned k = 0; k < kernels; k++)
        fprintf(out, "!%u = !{ptr @k_%u_%u, !\"kernel\", i32 1}\n", k, m, k);
}

/* The functions of llvm-c that make bitcode of text. */
static void *(*create_context)(void);
static void *(*make_buffer)(const char *data, size_t size, const char *name);
static int (*parse)(void *context, void *buffer, void **module, char **message);
static int (*write_file)(void *module, const char *path);
static void (*free_module)(void *module);
static void (*free_context)(void *context);

static bool load(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

    if (!library)
        return false;
    *(void **)&create_context = dlsym(library, "LLVMContextCreate");
    *(void **)&make_buffer = dlsym(library, "LLVMCreateMemoryBufferWithMemoryRangeCopy");
    *(void **)&parse = dlsym(library, "LLVMParseIRInContext");
    *(void **)&write_file = dlsym(library, "LLVMWriteBitcodeToFile");
    *(void **)&free_module = dlsym(library, "LLVMDisposeModule");
    *(void **)&free_context = dlsym(library, "LLVMContextDispose");
    return create_context && make_buffer && parse && write_file && free_module && free_context;
}

/* Takes the text over. */
static bool write_text(char *text, size_t size, const char *path)
{
    char *message = NULL;
    void *module, *context = create_context();
    bool ok;

    if (parse(context, make_buffer(text, size, "text"), &module, &message)) {
        fprintf(stderr, "tool_bitcode: %s\n%s", message, text);
        return false;
    }
    free(text);
    ok = write_file(module, path) == 0;
    free_module(module);
    free_context(context);
    return ok;
}

static bool write_module(const char *folder, unsigned m)
{
    char *text = NULL, path[4096];
    size_t size = 0;

    out = open_memstream(&text, &size);
    if (!out)
        return false;
    put_module(m, below(3) + 1);
    fclose(out);
    snprintf(path, sizeof path, "%s/%u.bc", folder, m);
    return write_text(text, size, path);
}

static bool write_input(const char *path)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t size = getdelim(&text, &capacity, '\0', stdin);

    return size >= 0 && write_text(text, (size_t)size, path);
}

int main(int argc, char **argv)
{
    if (argc != 4 || !load(argv[1])) {
        fprintf(stderr, "usage: tool_bitcode LIBLLVM SEED FOLDER | LIBLLVM - FILE\n");
        return 2;
    }
    if (strcmp(argv[2], "-") == 0)
        return !write_input(argv[3]);
    state = strtoull(argv[2], NULL, 10);
    module_count = below(MOST_MODULES - 1) + 2;
    for (unsigned m = 0; m < module_count; m++)
        if (!write_module(argv[3], m))
            return 1;
    return 0;
}
