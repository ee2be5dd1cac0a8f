/* merge_fixture.h: merging of small real cubins (fixtures/merge, made by ptxas 13.0), changed first
 * where a test wants that. merged_output.h looks at the result. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "cubin/format.h"
#include "diag/diag.h"
#include "merge/merge.h"
#include "suite.h"

#define MOST_INPUTS 4

/* One merge: its inputs, what it said, and the output read back. */
struct merged {
    struct buffer files[MOST_INPUTS];
    struct cubin inputs[MOST_INPUTS];
    struct image image;
    struct merge_report report;
    struct buffer bytes;
    struct cubin output;
    struct diag_sink said;
    bool ok;
};

static struct merged *merged; /* of the test at hand */

static inline void read_file(const char *name, struct buffer *contents)
{
    char *path = NULL;
    char block[4096];
    size_t size;
    FILE *file;

    ck_assert(asprintf(&path, "fixtures/merge/%s", name) > 0);
    file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    while ((size = fread(block, 1, sizeof block, file)) > 0)
        buffer_append(contents, block, size);
    fclose(file);
    free(path);
}

/* Reads a fixture as the input with this number. */
static inline void read_nth_input(size_t number, const char *name)
{
    ck_assert_uint_lt(number, MOST_INPUTS);
    read_file(name, &merged->files[number]);
    ck_assert(cubin_read(&merged->inputs[number], number ? "b.o" : "a.o",
                         buffer_bytes(&merged->files[number])));
}

static inline void read_input(const char *name)
{
    read_nth_input(0, name);
}

/* Merges the first `count` inputs. What comes out must be a cubin. */
static inline void merge_inputs(struct merge_request request, size_t count)
{
    const struct cubin *list[MOST_INPUTS];

    request.version = "test";
    for (size_t i = 0; i < count; i++)
        list[i] = &merged->inputs[i];
    diag_state_get()->sink = &merged->said;
    merged->ok = merge_cubins(&merged->image, list, count, &request, &merged->report);
    diag_state_get()->sink = NULL;
    if (merged->ok) {
        image_bytes(&merged->image, &merged->bytes);
        ck_assert(cubin_read(&merged->output, "output", buffer_bytes(&merged->bytes)));
    }
}

/* Merges the input alone. */
static inline void merge_input(struct merge_request request)
{
    merge_inputs(request, 1);
}

/* Merges the named fixtures ("a.o b.o"). */
static inline void merge_with(struct merge_request request, const char *names)
{
    char *copy = strdup(names);
    size_t count = 0;

    diag_state_get()->sink = &merged->said;
    for (char *rest = copy, *name; (name = strsep(&rest, " ")) != NULL; count++)
        read_nth_input(count, name);
    merge_inputs(request, count);
    free(copy);
}

static inline uint32_t input_section(const char *name)
{
    const struct cubin *cubin = &merged->inputs[0];

    for (uint32_t i = 1; i < cubin->section_count; i++)
        if (text_equal(cubin->sections[i].name, text_of(name)))
            return i;
    ck_abort_msg("no section %s", name);
}

/* Changes a field of a section header of the input, which must still be readable. */
static inline void patch_section(const char *name, size_t field, uint64_t value, size_t size)
{
    uint32_t index = input_section(name);
    Elf64_Ehdr header;

    cubin_free(&merged->inputs[0]);
    memcpy(&header, merged->files[0].data, sizeof header);
    memcpy(merged->files[0].data + header.e_shoff + index * sizeof(Elf64_Shdr) + field, &value,
           size);
    ck_assert(cubin_read(&merged->inputs[0], "a.o", buffer_bytes(&merged->files[0])));
}

static inline void merge(const char *names)
{
    merge_with((struct merge_request){.arch = {.sm = 90}}, names);
    ck_assert(merged->ok);
}

void set_up(void)
{
    merged = memory_zalloc(1, sizeof *merged);
}

void tear_down(void)
{
    image_free(&merged->image);
    merge_report_free(&merged->report);
    cubin_free(&merged->output);
    buffer_free(&merged->bytes);
    diag_sink_free(&merged->said);
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        cubin_free(&merged->inputs[i]);
        buffer_free(&merged->files[i]);
    }
    free(merged);
}
