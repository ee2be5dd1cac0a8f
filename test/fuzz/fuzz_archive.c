/* fuzz_archive.c: any bytes as an archive and as a host object. */
#include "input/archive.h"
#include "input/hostobj.h"
#include "fuzz.h"

/* Reads every byte that is handed out. */
static void touch(uint8_t *sum, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *sum ^= ((const uint8_t *)data)[i];
}

static void see_object(uint8_t *sum, struct bytes data)
{
    static const char *const sections[] = HOSTOBJ_SECTIONS;
    struct hostobj object = {0};
    struct bytes contents;

    CONTEXT_DEFER(elf_file_close, &object.file);
    hostobj_open(&object, "x.o", data);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        while (hostobj_next(&object, sections[i], &contents))
            touch(sum, contents.data, contents.size);
    *sum ^= hostobj_is_shared(data);
}

static void fuzz(struct bytes rest)
{
    struct archive archive;
    struct text name;
    struct bytes data;
    uint8_t sum = 0;

    archive_open(&archive, "x.a", rest);
    while (archive_next(&archive, &name, &data)) {
        touch(&sum, name.data, name.size);
        see_object(&sum, data);
    }
    see_object(&sum, rest);
}
