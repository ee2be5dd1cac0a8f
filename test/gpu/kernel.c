/* kernel.c: a parameter of eight bytes is a pointer to a buffer with a pattern in it, one of four
 * bytes the number 3, any other zeros. */
#include "kernel.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cubin/format.h"

#define BUFFER_SIZE 65536u
#define SHARED      1024u /* dynamic shared memory of every launch */

void append_file(struct buffer *buffer, FILE *file)
{
    char block[4096];
    size_t got;

    while ((got = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(buffer, block, got);
}

bool image_read(struct image *image, const char *path)
{
    FILE *file = fopen(path, "re");

    image->path = path;
    if (!file)
        return false;
    append_file(&image->bytes, file);
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

void shape_read(struct shape *shape, const struct cubin *cubin, uint32_t symbol)
{
    *shape = (struct shape){.grid = 1};
    snprintf(shape->name, sizeof shape->name, "%.*s", TEXT_ARG(cubin->symbols[symbol].name));
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

static bool is_variable(const struct cubin_symbol *symbol)
{
    return symbol->type == STT_OBJECT && symbol->binding != STB_LOCAL && symbol->section != 0;
}

static bool has_variable(const struct cubin *cubin, const struct cubin_symbol *variable)
{
    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];

        if (is_variable(symbol) && text_equal(symbol->name, variable->name) &&
            symbol->size == variable->size)
            return true;
    }
    return false;
}

static bool all_have_variable(const struct images *images, const struct cubin_symbol *variable)
{
    for (size_t i = 0; i < images->count; i++)
        if (!has_variable(&images->all[i].cubin, variable))
            return false;
    return true;
}

/* Copies what the module's visible variables hold now, in the order of the first image. */
static void copy_variables(const struct driver *driver, struct outcome *outcome,
                           const struct images *images, driver_module module)
{
    const struct cubin *cubin = &images->all[0].cubin;

    for (size_t i = 1; i < cubin->symbol_count; i++) {
        const struct cubin_symbol *symbol = &cubin->symbols[i];
        driver_pointer pointer;
        size_t size, at = outcome->memory.size;
        char name[1024];

        if (!is_variable(symbol) || !all_have_variable(images, symbol))
            continue;
        snprintf(name, sizeof name, "%.*s", TEXT_ARG(symbol->name));
        if (driver->get_global(&pointer, &size, module, name))
            continue;
        buffer_zeros(&outcome->memory, size);
        driver->copy_from(outcome->memory.data + at, pointer, size);
    }
}

/* Fills the buffers, launches, and reads what is in them afterwards. */
static void run_function(const struct driver *driver, struct outcome *outcome,
                         const struct shape *shape, driver_function function, unsigned block,
                         const driver_pointer *buffers)
{
    static uint8_t pattern[BUFFER_SIZE];
    uint8_t parameters[sizeof shape->parameters];
    size_t size = shape->parameter_size;
    void *extra[] = {DRIVER_PARAMETERS, parameters, DRIVER_PARAMETERS_SIZE, &size, NULL};

    fill(pattern);
    memcpy(parameters, shape->parameters, sizeof parameters);
    for (size_t i = 0; i < shape->pointer_count; i++) {
        if (failed(outcome, "fill", driver->copy_to(buffers[i], pattern, BUFFER_SIZE)))
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
}

static void run(const struct driver *driver, struct outcome *outcome, const struct images *images,
                size_t image, const struct shape *shape, unsigned block)
{
    driver_pointer buffers[MOST_POINTERS];
    driver_module module;
    driver_function function;

    if (failed(outcome, "load", driver->module_load(&module, images->all[image].bytes.data)) ||
        failed(outcome, "find", driver->get_function(&function, module, shape->name)))
        return;
    for (size_t i = 0; i < shape->pointer_count; i++)
        if (failed(outcome, "allocate", driver->alloc(&buffers[i], BUFFER_SIZE)))
            return;
    run_function(driver, outcome, shape, function, block, buffers);
    if (outcome->error)
        return;
    copy_variables(driver, outcome, images, module);
    for (size_t i = 0; i < shape->pointer_count; i++)
        driver->free(buffers[i]);
    driver->module_unload(module);
}

/* The driver writes what a kernel prints to standard output, which is a file meanwhile. */
void kernel_run(const struct driver *driver, struct outcome *outcome, const struct images *images,
                size_t i, const struct shape *shape, unsigned block)
{
    FILE *file = tmpfile();
    int terminal;

    fflush(stdout);
    terminal = dup(STDOUT_FILENO);
    if (!file || terminal < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) {
        perror("gpu_launch");
        exit(2);
    }
    run(driver, outcome, images, i, shape, block);
    fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    rewind(file);
    append_file(&outcome->text, file);
    fclose(file);
}

static bool buffer_equals(const struct buffer *one, const struct buffer *two)
{
    return one->size == two->size &&
           (one->size == 0 || memcmp(one->data, two->data, one->size) == 0);
}

bool outcome_equals(const struct outcome *one, const struct outcome *two)
{
    return one->error == two->error && strcmp(one->step, two->step) == 0 &&
           buffer_equals(&one->memory, &two->memory) && buffer_equals(&one->text, &two->text);
}

void outcome_free(struct outcome *outcome)
{
    buffer_free(&outcome->memory);
    buffer_free(&outcome->text);
}
