/* generate.c: PTX programs of any size for the benchmarks.
 *
 *     bench_generate FOLDER MODULES KERNELS KERNEL_BYTES     writes FOLDER/000.ptx, 001.ptx ...
 *
 * Each module has KERNELS kernels of about KERNEL_BYTES, a helper function and variables of its
 * own, and calls functions that the first module defines. The text looks like nvcc's: registers
 * numbered upwards and assigned once, address arithmetic, loops, shared memory, call sequences,
 * mangled names and .loc-free lines with tabs. The same arguments give the same bytes everywhere;
 * ptxas takes the result, too. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buffer.h"

#define SHARED_FUNCTIONS 8u
#define RECENT           8u /* values that later statements may use */

/* A body being written. */
struct body {
    struct buffer text;
    uint64_t random;
    unsigned module;
    unsigned kernel;
    unsigned predicates, words, longs, floats; /* registers so far: the next number */
    unsigned recent[RECENT];                   /* float registers */
    unsigned labels;
};

static unsigned next_random(struct body *body, unsigned limit)
{
    body->random = body->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(body->random >> 33) % limit;
}

static unsigned any_float(struct body *body)
{
    return body->recent[next_random(body, RECENT)];
}

static unsigned new_float(struct body *body)
{
    unsigned number = body->floats++;

    body->recent[next_random(body, RECENT)] = number;
    return number;
}

__attribute__((format(printf, 2, 3))) static void line(struct body *body, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    buffer_char(&body->text, '\t');
    buffer_vprintf(&body->text, format, arguments);
    buffer_string(&body->text, ";\n");
    va_end(arguments);
}

static void put_label(struct body *body, unsigned label)
{
    buffer_printf(&body->text, "\n$L__BB%u_%u:\n", body->kernel, label);
}

static void put_arithmetic(struct body *body)
{
    static const char *const binary[] = {"add.f32", "sub.f32", "mul.f32", "max.f32", "min.f32"};

    for (unsigned i = 0; i < 8; i++) {
        unsigned a = any_float(body), b = any_float(body), c = any_float(body);

        if (next_random(body, 3) == 0)
            line(body, "fma.rn.f32 \t%%f%u, %%f%u, %%f%u, %%f%u", new_float(body), a, b, c);
        else if (next_random(body, 6) == 0)
            line(body, "add.f32 \t%%f%u, %%f%u, 0f%08X", new_float(body), a,
                 0x3F000000 + next_random(body, 0x800000));
        else
            line(body, "%s \t%%f%u, %%f%u, %%f%u", binary[next_random(body, 5)], new_float(body), a,
                 b);
    }
}

/* An element of the first array to a float, and one back. */
static void put_memory(struct body *body)
{
    unsigned index = body->words++, wide = body->longs, value = any_float(body);

    body->longs += 3;
    line(body, "add.s32 \t%%r%u, %%r1, %u", index, next_random(body, 4096));
    line(body, "mul.wide.s32 \t%%rd%u, %%r%u, 4", wide, index);
    line(body, "add.s64 \t%%rd%u, %%rd1, %%rd%u", wide + 1, wide);
    line(body, "ld.global.f32 \t%%f%u, [%%rd%u]", new_float(body), wide + 1);
    line(body, "add.s64 \t%%rd%u, %%rd2, %%rd%u", wide + 2, wide);
    line(body, "st.global.f32 \t[%%rd%u+%u], %%f%u", wide + 2, 4 * next_random(body, 16), value);
}

static void put_shared(struct body *body)
{
    unsigned index = body->words, value = any_float(body);

    body->words += 3;
    line(body, "shl.b32 \t%%r%u, %%r2, 2", index);
    line(body, "mov.u32 \t%%r%u, _ZZ6kernelPfS_iE5tile_%u_%u", index + 1, body->module,
         body->kernel);
    line(body, "add.s32 \t%%r%u, %%r%u, %%r%u", index + 2, index + 1, index);
    line(body, "st.shared.f32 \t[%%r%u], %%f%u", index + 2, value);
    line(body, "bar.sync \t0");
    line(body, "ld.shared.f32 \t%%f%u, [%%r%u+%u]", new_float(body), index + 2,
         4 * next_random(body, 32));
}

static void put_loop(struct body *body)
{
    unsigned first = body->words, predicate = body->predicates++, label = body->labels++;
    unsigned sum = new_float(body), start = any_float(body);

    body->words += 2;
    line(body, "mov.u32 \t%%r%u, 0", first);
    line(body, "mov.f32 \t%%f%u, %%f%u", sum, start == sum ? 1 : start);
    put_label(body, label);
    line(body, "fma.rn.f32 \t%%f%u, %%f%u, %%f%u, %%f1", sum, sum, any_float(body));
    put_arithmetic(body);
    line(body, "add.s32 \t%%r%u, %%r%u, 1", first, first);
    line(body, "setp.lt.s32 \t%%p%u, %%r%u, %%r3", predicate, first);
    line(body, "@%%p%u bra \t$L__BB%u_%u", predicate, body->kernel, label);
}

static void put_branch(struct body *body)
{
    unsigned predicate = body->predicates++, label = body->labels++, value = any_float(body);
    unsigned result = body->floats++;

    line(body, "setp.gt.f32 \t%%p%u, %%f%u, 0f00000000", predicate, value);
    line(body, "mov.f32 \t%%f%u, %%f%u", result, any_float(body));
    line(body, "@%%p%u bra \t$L__BB%u_%u", predicate, body->kernel, label);
    line(body, "sqrt.rn.f32 \t%%f%u, %%f%u", result, value);
    line(body, "ld.global.f32 \t%%f%u, [table_%u+%u]", body->floats++, body->module,
         4 * next_random(body, 256));
    put_label(body, label);
    body->recent[next_random(body, RECENT)] = result;
}

static void put_call(struct body *body)
{
    unsigned a = any_float(body), b = any_float(body);

    buffer_string(&body->text, "\t{ // callseq 0, 0\n\t.reg .b32 temp_param_reg;\n");
    line(body, ".param .b32 param0");
    line(body, "st.param.f32 \t[param0+0], %%f%u", a);
    line(body, ".param .b32 param1");
    line(body, "st.param.f32 \t[param1+0], %%f%u", b);
    line(body, ".param .b32 retval0");
    if (next_random(body, 2))
        buffer_printf(&body->text,
                      "\tcall.uni (retval0), \n\t_Z11shared_func%uff, \n\t(\n\tparam0, "
                      "\n\tparam1\n\t);\n",
                      next_random(body, SHARED_FUNCTIONS));
    else
        buffer_printf(
            &body->text,
            "\tcall.uni (retval0), \n\t_Z6helper%uff, \n\t(\n\tparam0, \n\tparam1\n\t);\n",
            body->module);
    line(body, "ld.param.f32 \t%%f%u, [retval0+0]", new_float(body));
    buffer_string(&body->text, "\t} // callseq 0\n");
}

static void put_blocks(struct body *body, size_t bytes, bool may_call)
{
    while (body->text.size < bytes) {
        switch (next_random(body, 8)) {
        case 0:
            put_shared(body);
            break;
        case 1:
            put_loop(body);
            break;
        case 2:
            put_branch(body);
            break;
        case 3:
            if (may_call)
                put_call(body);
            break;
        case 4:
            put_memory(body);
            break;
        default:
            put_arithmetic(body);
        }
    }
}

static void put_kernel(struct buffer *module, struct body *body, size_t bytes)
{
    char name[64];

    snprintf(name, sizeof name, "_Z6kernel%u_%uPfS_i", body->module, body->kernel);
    body->text.size = 0;
    body->predicates = body->words = body->longs = body->floats = body->labels = 1;
    line(body, "ld.param.u64 \t%%rd1, [%s_param_0]", name);
    line(body, "ld.param.u64 \t%%rd2, [%s_param_1]", name);
    line(body, "ld.param.u32 \t%%r3, [%s_param_2]", name);
    line(body, "mov.u32 \t%%r2, %%tid.x");
    line(body, "mov.u32 \t%%r4, %%ctaid.x");
    line(body, "mov.u32 \t%%r5, %%ntid.x");
    line(body, "mad.lo.s32 \t%%r1, %%r4, %%r5, %%r2");
    body->words = 6;
    body->longs = 3;
    for (unsigned i = 0; i < RECENT; i++) {
        body->recent[i] = body->floats++;
        line(body, "ld.const.f32 \t%%f%u, [weights_%u+%u]", body->recent[i], body->module, 4 * i);
    }
    put_blocks(body, bytes, true);
    for (unsigned i = 0; i < RECENT; i++)
        line(body, "st.global.f32 \t[%%rd2+%u], %%f%u", 4 * i, body->recent[i]);
    buffer_printf(module,
                  "\t// .globl\t%s\n.visible .entry %s(\n\t.param .u64 %s_param_0,\n"
                  "\t.param .u64 %s_param_1,\n\t.param .u32 %s_param_2\n)\n{\n"
                  "\t.reg .pred \t%%p<%u>;\n\t.reg .f32 \t%%f<%u>;\n\t.reg .b32 \t%%r<%u>;\n"
                  "\t.reg .b64 \t%%rd<%u>;\n"
                  "\t// demoted variable\n"
                  "\t.shared .align 4 .b8 _ZZ6kernelPfS_iE5tile_%u_%u[4096];\n",
                  name, name, name, name, name, body->predicates, body->floats, body->words,
                  body->longs, body->module, body->kernel);
    buffer_text(module, buffer_view(&body->text));
    buffer_string(module, "\tret;\n\n}\n");
}

/* A function of two floats. */
static void put_function(struct buffer *module, struct body *body, const char *name,
                         const char *linkage)
{
    body->text.size = 0;
    body->floats = body->predicates = body->words = body->longs = 1;
    for (unsigned i = 0; i < RECENT; i++) {
        body->recent[i] = body->floats++;
        line(body, "ld.param.f32 \t%%f%u, [%s_param_%u]", body->recent[i], name, i % 2);
    }
    for (unsigned i = 0; i < 4; i++)
        put_arithmetic(body);
    line(body, "st.param.f32 \t[func_retval0+0], %%f%u", any_float(body));
    buffer_printf(module,
                  "\t// .globl\t%s\n%s.func  (.param .b32 func_retval0) %s(\n"
                  "\t.param .b32 %s_param_0,\n\t.param .b32 %s_param_1\n)\n{\n"
                  "\t.reg .f32 \t%%f<%u>;\n",
                  name, linkage, name, name, name, body->floats);
    buffer_text(module, buffer_view(&body->text));
    buffer_string(module, "\tret;\n\n}\n");
}

static void put_head(struct buffer *module, unsigned number)
{
    buffer_string(module, "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 8.0\n"
                          ".target sm_90\n.address_size 64\n\n");
    for (unsigned i = 0; number > 0 && i < SHARED_FUNCTIONS; i++)
        buffer_printf(module,
                      ".extern .func  (.param .b32 func_retval0) _Z11shared_func%uff\n(\n"
                      "\t.param .b32 _Z11shared_func%uff_param_0,\n"
                      "\t.param .b32 _Z11shared_func%uff_param_1\n)\n;\n",
                      i, i, i);
    buffer_printf(module, ".visible .global .align 4 .b8 table_%u[1024];\n", number);
    buffer_printf(module, ".visible .const .align 4 .f32 weights_%u[16] = {", number);
    for (unsigned i = 0; i < 16; i++)
        buffer_printf(module, "%s0f%08X", i ? ", " : "", 0x3F800000 + 4096 * (number + i));
    buffer_string(module, "};\n\n");
}

static bool write_file(const char *folder, unsigned number, const struct buffer *text)
{
    char path[4096];
    FILE *file;
    bool ok;

    snprintf(path, sizeof path, "%s/%03u.ptx", folder, number);
    file = fopen(path, "wb");
    ok = file && fwrite(text->data, 1, text->size, file) == text->size;
    if (file && fclose(file) != 0)
        ok = false;
    if (!ok)
        perror(path);
    return ok;
}

int main(int argc, char **argv)
{
    struct body body = {.random = 1};
    struct buffer module = {0};
    unsigned modules, kernels;
    size_t bytes;
    bool ok = true;

    if (argc != 5)
        return 2;
    modules = (unsigned)strtoul(argv[2], NULL, 10);
    kernels = (unsigned)strtoul(argv[3], NULL, 10);
    bytes = strtoul(argv[4], NULL, 10);
    if (mkdir(argv[1], 0777) != 0 && errno != EEXIST) {
        perror(argv[1]);
        return 1;
    }
    for (body.module = 0; ok && body.module < modules; body.module++) {
        char name[64];

        module.size = 0;
        put_head(&module, body.module);
        for (unsigned i = 0; body.module == 0 && i < SHARED_FUNCTIONS; i++) {
            snprintf(name, sizeof name, "_Z11shared_func%uff", i);
            put_function(&module, &body, name, ".visible ");
        }
        snprintf(name, sizeof name, "_Z6helper%uff", body.module);
        put_function(&module, &body, name, "");
        for (body.kernel = 0; body.kernel < kernels; body.kernel++)
            put_kernel(&module, &body, bytes);
        ok = write_file(argv[1], body.module, &module);
    }
    buffer_free(&module);
    buffer_free(&body.text);
    return ok ? 0 : 1;
}
