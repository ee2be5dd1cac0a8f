/* merge_fixture.h: merging of small real cubins (fixtures/merge, made by ptxas 13.0), changed first
 * where a test wants that. merged_output.h looks at the result. */
#pragma once

#include "base/memory.h"
#include "diag/diag.h"
#include "files.h"
#include "merge/merge.h"
#include "suite.h"

#define MOST_INPUTS 6

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

/* Reads the file of an input, also after it was changed. */
static inline void reread_input(size_t number)
{
    cubin_free(&merged->inputs[number]);
    ck_assert(cubin_read(&merged->inputs[number], number ? "b.o" : "a.o",
                         buffer_bytes(&merged->files[number])));
}

/* Reads a fixture as the input with this number. */
static inline void read_nth_input(size_t number, const char *name)
{
    char path[128];

    ck_assert_uint_lt(number, MOST_INPUTS);
    snprintf(path, sizeof path, "fixtures/merge/%s", name);
    merged->files[number] = files_load(path);
    reread_input(number);
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
    if (!request.toolkit)
        request.toolkit = toolkits_find(130); /* which most expectations were recorded with */
    for (size_t i = 0; i < count; i++)
        list[i] = &merged->inputs[i];
    diag_state_get()->sink = &merged->said;
    image_free(&merged->image); /* of a merge before */
    merged->ok = merge_cubins(&merged->image, list, count, &request, &merged->report);
    diag_state_get()->sink = NULL;
    if (merged->ok) {
        image_bytes(&merged->image, &merged->bytes);
        ck_assert(cubin_read(&merged->output, "output", buffer_bytes(&merged->bytes)));
    }
}

/* A request for sm_`number`, with what else is said of it. */
#define REQUEST(number, ...) ((struct merge_request){.arch = {.sm = number}, __VA_ARGS__})

/* Merges the first `count` inputs, which succeeds. */
static inline void merge_well(struct merge_request request, size_t count)
{
    merge_inputs(request, count);
    ck_assert(merged->ok);
}

/* Merges the input alone. */
static inline void merge_input(struct merge_request request)
{
    merge_inputs(request, 1);
}

/* Tries to merge the named fixtures ("a.o b.o"). */
static inline void try_merge(struct merge_request request, const char *names)
{
    FREED char *copy = strdup(names);
    size_t count = 0;

    diag_state_get()->sink = &merged->said;
    for (char *rest = copy, *name; (name = strsep(&rest, " ")) != NULL; count++)
        read_nth_input(count, name);
    merge_inputs(request, count);
}

static inline struct cubin_section *nth_input_section(size_t number, const char *name)
{
    uint32_t index = cubin_section_find(&merged->inputs[number], text_of(name));

    ck_assert_msg(index != 0, "no section %s", name);
    return &merged->inputs[number].sections[index];
}

static inline uint32_t input_section(const char *name)
{
    return (uint32_t)(nth_input_section(0, name) - merged->inputs[0].sections);
}

/* An input's relocations, which are in its file, to change them. */
static inline struct cubin_relocation *input_relocations(size_t number, const char *name)
{
    return (struct cubin_relocation *)(uintptr_t)nth_input_section(number, name)->relocations;
}

/* The contents of an input's section, which are in its file, to change them. */
static inline uint8_t *input_bytes(size_t number, const char *name)
{
    return (uint8_t *)(uintptr_t)nth_input_section(number, name)->data.data;
}

/* The symbol of that name that is no section symbol. */
static inline struct cubin_symbol *input_symbol(size_t number, const char *name)
{
    struct cubin *cubin = &merged->inputs[number];

    for (size_t i = 1; i < cubin->symbol_count; i++)
        if (cubin->symbols[i].type != STT_SECTION &&
            text_equal(cubin->symbols[i].name, text_of(name)))
            return &cubin->symbols[i];
    ck_abort_msg("no symbol %s", name);
}

/* Changes a field of a section header of the input, which must still be readable. */
static inline void patch_section(const char *name, size_t field, uint64_t value, size_t size)
{
    memcpy((char *)files_header_of(&merged->files[0], name) + field, &value, size);
    reread_input(0);
}

static inline void merge_with(struct merge_request request, const char *names)
{
    try_merge(request, names);
    ck_assert(merged->ok);
}

static inline void merge(const char *names)
{
    merge_with(REQUEST(90), names);
}

/* Begins anew within a test. */
static inline void restart(void)
{
    tear_down();
    set_up();
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
