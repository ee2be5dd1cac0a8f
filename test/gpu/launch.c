/* launch.c: whether two cubins compute the same.
 *
 *     gpu_launch --arch              prints the device's sm_NN
 *     gpu_launch ONE.cubin TWO.cubin
 *
 * Every kernel of ONE is launched from both, with the same inputs, each time in a context of its
 * own (an illegal access ends a context): with one thread, then with a warp. A parameter of eight
 * bytes is a pointer to a buffer with a pattern in it, one of four bytes the number 3, any other
 * zeros. Compared are the driver's error, the buffers, and the visible variables of the module
 * afterwards. What a kernel stores of addresses is compared like all else: cubins of the same
 * layout have the same. Exit status: 0 the same, 1 different, 2 unreadable input, 77 no device. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/context.h"
#include "cubin/cubin.h"
#include "cubin/format.h"
#include "driver.h"

#define BUFFER_SIZE   65536u
#define MOST_POINTERS 8u
#define WARP          32u
#define SHARED        1024u /* dynamic shared memory of every launch */

struct image {
    const char *path;
    struct buffer bytes;
    struct cubin cubin;
};

/* How a kernel is launched. */
struct shape {
    const char *name;
    uint8_t parameters[4096];
    size_t parameter_size;
    uint32_t pointer_at[MOST_POINTERS]; /* offsets of parameters that are pointers */
    size_t pointer_count;
    unsigned grid;
    unsigned block;
};

/* What a launch left behind. */
struct outcome {
    int error;
    const char *step; /* that failed, or "launch" */
    struct buffer memory;
};

static bool read_image(struct image *image, const char *path)
{
    FILE *file = fopen(path, "re");
    char block[4096];
    size_t got;

    image->path = path;
    if (!file)
        return false;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(&image->bytes, block, got);
    fclose(file);
    return cubin_read(&image->cubin, path, buffer_bytes(&image->bytes));
}

/* KPARAM_INFO: {index, ordinal << 0 | offset << 16, ..., size << 18}. */
static void add_parameter(struct shape *shape, const struct info_record *record)
{
    uint32_t place = info_word(record->payload, 1), facts = info_word(record->payload, 2);
    uint32_t offset = place >> 16, size = facts >> 18, three = 3;

    if (offset + size > sizeof shape->parameters)
        return;
    if (size == 4)
        memcpy(shape->parameters + offset, &three, sizeof three);
    if (size == 8 && shape->pointer_count < MOST_POINTERS)
        shape->pointer_at[shape->pointer_count++] = offset;
    if (offset + size > shape->parameter_size)
        shape->parameter_size = offset + size;
}

static void read_shape(struct shape *shape, const struct cubin *cubin, uint32_t symbol)
{
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        struct bytes rest = cubin->sections[i].data;
        struct info_record record;

        if (cubin->sections[i].type != SHT_CUDA_INFO || cubin_section_function(cubin, i) != symbol)
            continue;
        while (info_next(&rest, &record)) {
            if (record.attribute == EIATTR_KPARAM_INFO)
                add_parameter(shape, &record);
            else if (record.attribute == EIATTR_REQNTID)
                shape->block = info_word(record.payload, 0);
            else if (record.attribute == EIATTR_CTA_PER_CLUSTER)
                shape->grid = 2;
        }
    }
}

/* The buffers' pattern: small numbers, so that loops over them end. */
static void fill(uint8_t *memory)
{
    for (uint32_t i = 0; i < BUFFER_SIZE / 4; i++) {
        uint32_t word = i % 7 + 1;

        memcpy(memory + i * 4, &word, 4);
    }
}

static bool failed(struct outcome *outcome, const char *step, int error)
{
    outcome->step = step;
    outcome->error = error;
    return error != 0;
}

/* Copies what the module's visible variables hold now. */
static void copy_variables(const struct driver *driver, struct outcome *outcome,
                           const struct cubin *cubin, driver_module module)
{
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        driver_pointer pointer;
        size_t size, at = outcome->memory.size;
        char name[1024];

        if (symbol->type != STT_OBJECT || symbol->binding == STB_LOCAL || symbol->section == 0)
            continue;
        snprintf(name, sizeof name, "%.*s", TEXT_ARG(symbol->name));
        if (driver->get_global(&pointer, &size, module, name))
            continue;
        buffer_zeros(&outcome->memory, size);
        driver->copy_from(outcome->memory.data + at, pointer, size);
    }
}

/* In a fresh context. */
static void run(const struct driver *driver, struct outcome *outcome, const struct image *image,
                const struct shape *shape, unsigned block)
{
    static uint8_t pattern[BUFFER_SIZE];
    driver_pointer buffers[MOST_POINTERS];
    uint8_t parameters[sizeof shape->parameters];
    size_t size = shape->parameter_size;
    void *extra[] = {DRIVER_PARAMETERS, parameters, DRIVER_PARAMETERS_SIZE, &size, NULL};
    driver_module module;
    driver_function function;

    fill(pattern);
    memcpy(parameters, shape->parameters, sizeof parameters);
    if (failed(outcome, "load", driver->module_load(&module, image->bytes.data)) ||
        failed(outcome, "find", driver->get_function(&function, module, shape->name)))
        return;
    for (size_t i = 0; i < shape->pointer_count; i++) {
        if (failed(outcome, "allocate", driver->alloc(&buffers[i], BUFFER_SIZE)) ||
            failed(outcome, "fill", driver->copy_to(buffers[i], pattern, BUFFER_SIZE)))
            return;
        memcpy(parameters + shape->pointer_at[i], &buffers[i], sizeof buffers[i]);
    }
    if (failed(
            outcome, "launch",
            driver->launch(function, shape->grid, 1, 1, block, 1, 1, SHARED, NULL, NULL, extra)) ||
        failed(outcome, "run", driver->synchronize()))
        return;
    for (size_t i = 0; i < shape->pointer_count; i++) {
        size_t at = outcome->memory.size;

        buffer_zeros(&outcome->memory, BUFFER_SIZE);
        driver->copy_from(outcome->memory.data + at, buffers[i], BUFFER_SIZE);
    }
    copy_variables(driver, outcome, &image->cubin, module);
}

static void run_alone(const struct driver *driver, int device, struct outcome *outcome,
                      const struct image *image, const struct shape *shape, unsigned block)
{
    driver_context context;

    if (failed(outcome, "start", driver->context_create(&context, 0, device)))
        return;
    run(driver, outcome, image, shape, block);
    driver->context_destroy(context);
}

static bool compare(const struct driver *driver, const struct shape *shape, unsigned block,
                    const struct outcome *one, const struct outcome *two)
{
    size_t size = one->memory.size, at = 0;

    if (one->error != two->error || strcmp(one->step, two->step) != 0) {
        printf("%s, %u threads: %s: %s, but %s: %s\n", shape->name, block, one->step,
               driver_error(driver, one->error), two->step, driver_error(driver, two->error));
        return false;
    }
    if (size != two->memory.size) {
        printf("%s, %u threads: %zu bytes of memory, but %zu\n", shape->name, block, size,
               two->memory.size);
        return false;
    }
    while (at < size && one->memory.data[at] == two->memory.data[at])
        at++;
    if (at < size)
        printf("%s, %u threads: byte %zu differs\n", shape->name, block, at);
    else
        printf("%s, %u threads: same (%s)\n", shape->name, block,
               one->error ? driver_error(driver, one->error) : "ran");
    return at == size;
}

static bool test_kernel(const struct driver *driver, int device, const struct image images[2],
                        const struct shape *shape)
{
    const unsigned blocks[2] = {shape->block ? shape->block : 1, shape->block ? 0 : WARP};
    bool same = true;

    for (int i = 0; i < 2 && blocks[i]; i++) {
        struct outcome outcomes[2] = {0};

        for (int j = 0; j < 2; j++)
            run_alone(driver, device, &outcomes[j], &images[j], shape, blocks[i]);
        same &= compare(driver, shape, blocks[i], &outcomes[0], &outcomes[1]);
        buffer_free(&outcomes[0].memory);
        buffer_free(&outcomes[1].memory);
    }
    return same;
}

/* The number of kernels that were launched; *same becomes false when one differs. */
static unsigned test_all(const struct driver *driver, int device, const struct image images[2],
                         bool *same)
{
    const struct cubin *cubin = &images[0].cubin;
    unsigned count = 0;

    for (uint32_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        static struct shape shape;
        char name[1024];

        if (symbol->type != STT_FUNC || !(symbol->other & STO_CUDA_ENTRY))
            continue;
        snprintf(name, sizeof name, "%.*s", TEXT_ARG(symbol->name));
        shape = (struct shape){.name = name, .grid = 1};
        read_shape(&shape, cubin, i);
        *same &= test_kernel(driver, device, images, &shape);
        count++;
    }
    return count;
}

static enum link_code run_test(void *argument)
{
    char **argv = argument;
    struct image images[2] = {0};
    struct driver driver;
    const char *why;
    int device, major = 0, minor = 0;
    bool same = true;
    unsigned count;

    if (!driver_open(&driver, &device, &why)) {
        printf("no GPU: %s\n", why);
        exit(77);
    }
    if (!argv[2]) {
        driver.device_attribute(&major, DRIVER_MAJOR, device);
        driver.device_attribute(&minor, DRIVER_MINOR, device);
        printf("sm_%d%d\n", major, minor);
        exit(0);
    }
    if (!read_image(&images[0], argv[1]) || !read_image(&images[1], argv[2]))
        exit(2);
    count = test_all(&driver, device, images, &same);
    printf("%u kernels: %s\n", count, same ? "the same" : "different");
    exit(!same);
}

int main(int argc, char **argv)
{
    if (argc != 3 && !(argc == 2 && strcmp(argv[1], "--arch") == 0)) {
        fputs("usage: gpu_launch --arch | ONE.cubin TWO.cubin\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    return (int)context_run(run_test, argv);
}
