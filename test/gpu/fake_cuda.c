/* fake_cuda.c: a libcuda for trying gpu_launch out without a GPU. A "launch" adds a checksum of the
 * kernel's code to every word of every buffer it is given, and to every variable; FAKE_CUDA_WAY
 * makes it misbehave. It keeps what the driver promises: memory belongs to a context, and an error
 * of a launch shows at the next synchronisation. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct CUctx_st {
    int is_open;
};
struct CUmod_st {
    const uint8_t *image;
    uint8_t variables[64][256];
};
struct CUfunc_st {
    struct CUmod_st *module;
    uint32_t checksum;
};

static struct CUctx_st current;
static int pending; /* error of the last launch */

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuCtxCreate_v2(struct CUctx_st **context, unsigned flags, int device);
int cuCtxSynchronize(void);
int cuModuleLoadData(struct CUmod_st **module, const void *image);
int cuModuleUnload(struct CUmod_st *module);
int cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name);
int cuModuleGetGlobal_v2(uint64_t *pointer, size_t *size, struct CUmod_st *module,
                         const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t size);
int cuMemFree_v2(uint64_t pointer);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra);
int cuGetErrorName(int error, const char **name);

/* The number of this launch, of all processes with the same FAKE_CUDA_COUNT, a file. */
static long count_launch(void)
{
    const char *path = getenv("FAKE_CUDA_COUNT");
    FILE *file = path ? fopen(path, "ab") : NULL;
    long count = 0;

    if (file) {
        fputc('.', file);
        count = ftell(file);
        fclose(file);
    }
    return count;
}

static int is_way(const char *way)
{
    const char *wanted = getenv("FAKE_CUDA_WAY");

    return wanted && strcmp(wanted, way) == 0;
}

int cuInit(unsigned flags)
{
    return flags || is_way("init") ? 100 : 0;
}

int cuDeviceGetCount(int *count)
{
    *count = !is_way("none");
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = 0;
    return ordinal ? 101 : 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : 0;
    return device ? 101 : 0;
}

int cuCtxCreate_v2(struct CUctx_st **context, unsigned flags, int device)
{
    if (current.is_open || flags || device)
        return 201;
    current.is_open = 1;
    pending = 0;
    *context = &current;
    return 0;
}

int cuCtxSynchronize(void)
{
    return pending;
}

int cuModuleLoadData(struct CUmod_st **module, const void *image)
{
    if (!current.is_open || memcmp(image, ELFMAG, SELFMAG) != 0)
        return 200;
    *module = calloc(1, sizeof **module);
    (*module)->image = image;
    return 0;
}

int cuModuleUnload(struct CUmod_st *module)
{
    free(module);
    return 0;
}

static const Elf64_Shdr *find_section(const uint8_t *image, const char *name)
{
    const Elf64_Ehdr *header = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
    const char *names = (const char *)image + sections[header->e_shstrndx].sh_offset;

    for (unsigned i = 1; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    return NULL;
}

int cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module, const char *name)
{
    char section[1200];
    const Elf64_Shdr *text;

    snprintf(section, sizeof section, ".text.%s", name);
    text = find_section(module->image, section);
    if (!text)
        return 500;
    *function = calloc(1, sizeof **function);
    (*function)->module = module;
    for (uint64_t i = 0; i < text->sh_size; i++)
        (*function)->checksum = (*function)->checksum * 31 + module->image[text->sh_offset + i];
    return 0;
}

static int has_symbol(const uint8_t *image, const char *name)
{
    const Elf64_Shdr *table = find_section(image, ".symtab");
    const Elf64_Shdr *names = find_section(image, ".strtab");
    const Elf64_Sym *symbols = (const void *)(image + table->sh_offset);

    for (uint64_t i = 1; i < table->sh_size / sizeof *symbols; i++)
        if (strcmp((const char *)image + names->sh_offset + symbols[i].st_name, name) == 0)
            return 1;
    return 0;
}

/* The variable's place is told by its name: enough for tests. */
int cuModuleGetGlobal_v2(uint64_t *pointer, size_t *size, struct CUmod_st *module, const char *name)
{
    if (!has_symbol(module->image, name))
        return 500;
    *pointer = (uint64_t)(uintptr_t)module->variables[(unsigned char)name[0] % 64];
    *size = sizeof module->variables[0];
    return 0;
}

int cuMemAlloc_v2(uint64_t *pointer, size_t size)
{
    *pointer = (uint64_t)(uintptr_t)malloc(size);
    return is_way("memory") ? 2 : 0;
}

int cuMemFree_v2(uint64_t pointer)
{
    free((void *)(uintptr_t)pointer);
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
    memcpy((void *)(uintptr_t)to, from, size);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
    memcpy(to, (const void *)(uintptr_t)from, size);
    return 0;
}

/* Every aligned eight bytes of the parameters that are not zero are a buffer of ours: gpu_launch
 * gives nothing else of that size. */
int cuLaunchKernel(struct CUfunc_st *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra)
{
    const uint8_t *block = extra[1];
    size_t size = *(const size_t *)extra[3];
    long launch;

    if (stream || parameters || !shared || grid_x * grid_y * grid_z * block_y * block_z == 0)
        return 1;
    launch = count_launch();
    if (is_way("fault") || (is_way("second") && launch % 2 == 0) || (is_way("once") && launch == 2))
        pending = 700;
    if (is_way("endless") && launch == 1)
        for (;;)
            pause();
    if (is_way("print")) {
        printf("%x\n", function->checksum);
        return 0;
    }
    for (size_t at = 0; at + 8 <= size && !pending; at += 8) {
        uint64_t pointer;

        memcpy(&pointer, block + at, 8);
        if (pointer < 65536 || pointer >> 32 == 3) /* one number, or two */
            continue;
        for (unsigned i = 0; i < 1024; i++)
            ((uint32_t *)(uintptr_t)pointer)[i] += function->checksum * block_x;
    }
    memset(function->module->variables, (int)(function->checksum & 0xff),
           sizeof function->module->variables);
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY"
                         : "CUDA_ERROR_OTHER";
    return 0;
}
