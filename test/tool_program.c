/* tool_program.c: a random program of several PTX modules, for tests of splitting and linking.
 *
 *     tool_program SEED FOLDER     writes FOLDER/0.ptx, FOLDER/1.ptx, ...; prints nothing
 *
 * It has kernels and functions (internal ones with the same names in several modules, visible, weak
 * in several modules, recursive ones, aliases), calls across modules, tables of functions that are
 * called through, and shared, constant and global variables, some of which point to others. All
 * functions take and give one number, so that any may call any. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_MODULES   4
#define MOST_FUNCTIONS 24
#define MOST_VARIABLES 12

enum linkage { INTERNAL, VISIBLE, WEAK };

struct function {
    char name[24];
    enum linkage linkage;
    int module; /* its only one, unless weak */
    int length; /* of its body, in steps */
    int calls[3];
    int call_count;
    int alias; /* number of its alias, or -1 */
};

struct variable {
    char name[24];
    const char *space;
    enum linkage linkage;
    int module;
    int points_to; /* a function whose address is its value, or -1 */
};

struct program {
    struct function functions[MOST_FUNCTIONS];
    struct variable variables[MOST_VARIABLES];
    int module_count, function_count, variable_count;
};

static uint64_t state;

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)limit);
}

static bool one_in(int n)
{
    return below(n) == 0;
}

/* True when code in `module` may name it. */
static bool function_is_seen(const struct function *function, int module)
{
    return function->linkage != INTERNAL || function->module == module;
}

static bool variable_is_seen(const struct variable *variable, int module)
{
    return variable->linkage != INTERNAL || variable->module == module;
}

static void choose_functions(struct program *program)
{
    program->function_count = 2 + below(MOST_FUNCTIONS - 2);
    for (int i = 0; i < program->function_count; i++) {
        struct function *function = &program->functions[i];

        function->linkage = one_in(2) ? INTERNAL : one_in(4) ? WEAK : VISIBLE;
        function->module = below(program->module_count);
        function->length = one_in(6) ? 200 : 1 + below(20);
        /* A module's n-th internal function has the name of every other's. */
        snprintf(function->name, sizeof function->name,
                 function->linkage == INTERNAL ? "own%d" : "f%d",
                 function->linkage == INTERNAL ? i / program->module_count : i);
        function->alias = function->linkage == VISIBLE && one_in(4) ? i : -1;
        for (int k = 0; k < i; k++)
            if (function->linkage == INTERNAL && program->functions[k].linkage == INTERNAL &&
                program->functions[k].module == function->module)
                snprintf(function->name, sizeof function->name, "other%d", i);
    }
}

/* Weak functions may only name what all modules see: each module has the same text. */
static void choose_calls(struct program *program)
{
    for (int i = 0; i < program->function_count; i++) {
        struct function *function = &program->functions[i];
        int wanted = below(4);

        for (int k = 0; k < wanted; k++) {
            int callee = below(program->function_count);
            const struct function *other = &program->functions[callee];
            int module = function->linkage == WEAK ? -1 : function->module;

            if (function_is_seen(other, module) && (callee > i || one_in(8)))
                function->calls[function->call_count++] = callee;
        }
    }
}

static void choose_variables(struct program *program)
{
    static const char *const spaces[] = {".global", ".const", ".shared"};

    program->variable_count = 1 + below(MOST_VARIABLES - 1);
    for (int i = 0; i < program->variable_count; i++) {
        struct variable *variable = &program->variables[i];
        int target = below(program->function_count);

        variable->space = spaces[below(3)];
        variable->linkage = one_in(2) ? INTERNAL : VISIBLE;
        variable->module = below(program->module_count);
        snprintf(variable->name, sizeof variable->name, "v%d", i);
        variable->points_to =
            variable->space[1] == 'g' && one_in(2) &&
                    function_is_seen(&program->functions[target], variable->module)
                ? target
                : -1;
    }
}

static const char *linkage_word(enum linkage linkage)
{
    return linkage == VISIBLE ? ".visible " : linkage == WEAK ? ".weak " : "";
}

static void write_head(FILE *file, const char *linkage, const char *name)
{
    fprintf(file, "%s.func (.param .b32 result) %s(.param .b32 number)", linkage, name);
}

static void write_variable(FILE *file, const struct program *program,
                           const struct variable *variable, int module)
{
    bool is_here = variable->module == module;

    fprintf(file, "%s%s .align 8 .u64 %s", is_here ? linkage_word(variable->linkage) : ".extern ",
            variable->space, variable->name);
    if (is_here && variable->points_to >= 0)
        fprintf(file, " = %s", program->functions[variable->points_to].name);
    else if (is_here && variable->space[1] != 's')
        fprintf(file, " = %d", below(1000));
    fprintf(file, ";\n");
}

static void write_call(FILE *file, const char *name)
{
    fprintf(
        file,
        "    { .param .b32 in, out; st.param.b32 [in], %%r1; call (out), %s, (in); ld.param.b32 "
        "%%r1, [out]; }\n",
        name);
}

/* Calls through whatever the variable points to. */
static void write_indirect(FILE *file, const char *name, int label)
{
    fprintf(file,
            "    ld.global.b64 %%rd1, [%s];\n"
            "    { .param .b32 in, out; st.param.b32 [in], %%r1;\n"
            "    prototype%d: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
            "    call (out), %%rd1, (in), prototype%d; ld.param.b32 %%r1, [out]; }\n",
            name, label, label);
}

static void write_uses(FILE *file, const struct program *program, int module, int length)
{
    for (int i = 0; i < length; i++)
        fprintf(file, "    mad.lo.s32 %%r1, %%r1, %d, %%r2;\n    xor.b32 %%r2, %%r2, %%r1;\n",
                3 + below(99));
    for (int i = 0; i < program->variable_count; i++) {
        const struct variable *variable = &program->variables[i];

        if (!variable_is_seen(variable, module) || !one_in(3))
            continue;
        if (variable->points_to >= 0 && one_in(2)) {
            write_indirect(file, variable->name, i);
            continue;
        }
        fprintf(file, "    ld%s.b64 %%rd2, [%s];\n    cvt.u32.u64 %%r2, %%rd2;\n", variable->space,
                variable->name);
        if (variable->space[1] == 's')
            fprintf(file, "    st.shared.b64 [%s], %%rd2;\n", variable->name);
    }
}

static void write_function(FILE *file, const struct program *program,
                           const struct function *function, int module)
{
    write_head(file, linkage_word(function->linkage), function->name);
    fprintf(file,
            "\n{\n    .reg .b32 %%r<4>; .reg .b64 %%rd<4>;\n    ld.param.b32 %%r1, [number];\n"
            "    mov.b32 %%r2, 7;\n");
    write_uses(file, program, function->linkage == WEAK ? -1 : module, function->length);
    for (int i = 0; i < function->call_count; i++) {
        const struct function *callee = &program->functions[function->calls[i]];
        char alias[32];

        snprintf(alias, sizeof alias, "alias%d", callee->alias);
        write_call(file, callee->alias >= 0 && function->linkage != WEAK && callee->module == module
                             ? alias
                             : callee->name);
    }
    fprintf(file, "    st.param.b32 [result], %%r1;\n    ret;\n}\n");
}

static void write_kernel(FILE *file, const struct program *program, int module, int number)
{
    fprintf(
        file,
        ".visible .entry k%d_%d(.param .u64 place)\n{\n    .reg .b32 %%r<4>; .reg .b64 %%rd<4>;\n"
        "    ld.param.u64 %%rd3, [place];\n    mov.b32 %%r1, %%tid.x;\n    mov.b32 %%r2, 1;\n",
        module, number);
    write_uses(file, program, module, one_in(3) ? 100 : 5);
    for (int i = 0; i < program->function_count; i++)
        if (function_is_seen(&program->functions[i], module) && one_in(3))
            write_call(file, program->functions[i].name);
    fprintf(file, "    st.global.b32 [%%rd3], %%r1;\n    ret;\n}\n");
}

/* Weak functions have the same text in each module: the numbers in it must be chosen alike. */
static void write_weak(FILE *file, const struct program *program, int index, int module)
{
    uint64_t before = state;

    state = (uint64_t)index * 977 + 5;
    write_function(file, program, &program->functions[index], module);
    state = before;
}

static void write_module(FILE *file, const struct program *program, int module)
{
    fprintf(file, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < program->function_count; i++) {
        const struct function *function = &program->functions[i];
        char alias[32];

        if (!function_is_seen(function, module))
            continue;
        write_head(file,
                   function->linkage == WEAK || function->module == module
                       ? linkage_word(function->linkage)
                       : ".extern ",
                   function->name);
        fprintf(file, ";\n");
        snprintf(alias, sizeof alias, "alias%d", function->alias);
        if (function->alias >= 0 && function->module == module) {
            write_head(file, ".visible ", alias);
            fprintf(file, ";\n");
        }
    }
    for (int i = 0; i < program->variable_count; i++)
        if (variable_is_seen(&program->variables[i], module))
            write_variable(file, program, &program->variables[i], module);
    for (int i = 0; i < program->function_count; i++) {
        const struct function *function = &program->functions[i];

        if (function->linkage == WEAK)
            write_weak(file, program, i, module);
        else if (function->module == module)
            write_function(file, program, function, module);
    }
    for (int i = below(4); i >= 0; i--)
        write_kernel(file, program, module, i);
    for (int i = 0; i < program->function_count; i++)
        if (program->functions[i].alias >= 0 && program->functions[i].module == module)
            fprintf(file, ".alias alias%d, %s;\n", i, program->functions[i].name);
}

int main(int argc, char **argv)
{
    struct program program = {0};

    if (argc != 3) {
        fprintf(stderr, "usage: tool_program SEED FOLDER\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
    program.module_count = 1 + below(MOST_MODULES);
    choose_functions(&program);
    choose_calls(&program);
    choose_variables(&program);
    for (int i = 0; i < program.module_count; i++) {
        char path[4096];
        FILE *file;

        snprintf(path, sizeof path, "%s/%d.ptx", argv[2], i);
        file = fopen(path, "w");
        if (!file) {
            perror(path);
            return 2;
        }
        write_module(file, &program, i);
        if (fclose(file) != 0) {
            perror(path);
            return 2;
        }
    }
    return 0;
}
