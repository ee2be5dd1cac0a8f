/* program.c: a walk along PATH. */
#include "base/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"

bool program_is(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *program_find(struct text name)
{
    const char *cursor = getenv("PATH");
    struct buffer path = {0};

    if (name.size && memchr(name.data, '/', name.size))
        return memory_copy_string(name.data, name.size);
    while (cursor && name.size) {
        size_t size = strcspn(cursor, ":");

        path.size = 0;
        /* In one allocation, so that nothing is lost when there is no memory for it. */
        buffer_reserve(&path, size + name.size + 3);
        buffer_printf(&path, "%.*s/%.*s", (int)(size ? size : 1), size ? cursor : ".",
                      TEXT_ARG(name));
        if (program_is(path.data))
            return path.data;
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    buffer_free(&path);
    return NULL;
}
