/* fuzz_archive.c: any bytes as an archive and as a host object. */
#include "input/file.h"
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
    struct hostobj object;
    struct bytes contents;
    const char *section;

    HOSTOBJ_OPEN(&object, "x.o", data);
    while (hostobj_next_code(&object, &section, &contents))
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
