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

static bool see_section(void *argument, const char *section, struct bytes data)
{
    (void)section;
    touch(argument, data.data, data.size);
    return true;
}

static void see_object(uint8_t *sum, struct bytes data)
{
    hostobj_walk("x.o", data, see_section, sum);
    *sum ^= hostobj_is_shared(data);
}

static bool see_member(void *argument, struct text name, struct bytes data)
{
    touch(argument, name.data, name.size);
    see_object(argument, data);
    return true;
}

static void fuzz(struct bytes rest)
{
    uint8_t sum = 0;

    archive_walk("x.a", rest, see_member, &sum);
    see_object(&sum, rest);
}
