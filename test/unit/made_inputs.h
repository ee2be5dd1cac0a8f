/* made_inputs.h: inputs that are made in memory. */
#pragma once

#include "input/file.h"
#include "host_object.h"
#include "input_fixture.h"

static struct inputs inputs;
static struct input_file made_files[4];

/* Adds a file with those contents, which are freed with it. */
static inline void inputs_add(const char *path, struct bytes data)
{
    made_files[inputs.count++] =
        (struct input_file){.path = path, .data = data, .kind = file_classify(data)};
    inputs.files = made_files;
}

static inline void inputs_add_object(const char *path, const struct object_section *sections,
                                     size_t count)
{
    struct buffer object = {0};

    object_make(&object, sections, count);
    inputs_add(path, buffer_bytes(&object));
}

static inline void inputs_drop(void)
{
    for (size_t i = 0; i < inputs.count; i++)
        fixture_free(inputs.files[i].data);
    inputs = (struct inputs){0};
}
