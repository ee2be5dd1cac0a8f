/* fuzz_modules.c: any bytes as objects whose modules are listed for -register-link-binaries. With
 * an odd first byte each part is the section of ids of an object, else each is a whole file. */
#include <ctype.h>
#include <stdio.h>

#include "input/used.h"
#include "unit/host_object.h"
#include "fuzz.h"

#define MOST_FILES 8

/* What is listed is C that can be compiled: identifiers, as many as it says. */
static void check(struct text list)
{
    static const char head[] = "#define NUM_PRELINKED_OBJECTS ";
    static const char before[] = "DEFINE_REGISTER_FUNC(";
    struct bytes rest = {(const uint8_t *)list.data, list.size};
    size_t count = 0;
    char said[32];
    struct text line, first;

    if (!fuzz_line(&rest, &first))
        abort();
    for (; fuzz_line(&rest, &line); count++) {
        if (!text_starts(line, TEXT(before)) || line.size < sizeof before + 1 ||
            line.data[line.size - 1] != ')')
            abort();
        for (size_t i = sizeof before - 1; i < line.size - 1; i++)
            if ((unsigned char)line.data[i] < 0x80 && !isalnum((unsigned char)line.data[i]) &&
                line.data[i] != '_' && line.data[i] != '$')
                abort();
    }
    snprintf(said, sizeof said, "%zu", count);
    if (first.size != sizeof head - 1 + strlen(said) || !text_starts(first, TEXT(head)) ||
        memcmp(first.data + sizeof head - 1, said, strlen(said)) != 0)
        abort();
}

static struct input_file file_of(struct bytes part, bool is_section)
{
    static const char *const paths[] = {"a.o", "b.cubin", "lib/libcudadevrt.a", "/c.ptx"};
    struct input_file file = {.path = paths[part.size % 4]};
    struct object_section sections[] = {
        {"__nv_relfatbin", {(const uint8_t *)"x", part.size % 3 != 0}},
        {"__nv_module_id", part},
    };
    struct buffer object = {0};

    if (is_section)
        object_make(&object, sections, 2);
    if (is_section)
        part.data = fuzz_keep(buffer_take(&object, &part.size));
    file.data = part;
    file.kind = file_classify(part);
    return file;
}

static void fuzz(struct bytes rest)
{
    uint8_t choice = fuzz_byte(&rest);
    struct input_file files[MOST_FILES];
    struct inputs inputs = {.files = files};
    struct buffer list = {0};
    bool ok;

    while (inputs.count < MOST_FILES && rest.size)
        files[inputs.count++] = file_of(fuzz_part(&rest), choice & 1);
    ok = modules_list(&list, &inputs, NULL, choice & 2, choice & 4);
    if (ok)
        check(buffer_view(&list));
    if (ok != (fuzz_errors() == 0))
        abort();
    buffer_free(&list);
}
