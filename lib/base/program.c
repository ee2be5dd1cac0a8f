/* program.c: a walk along PATH. */
#include "base/program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
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
    struct context_cleanup cleanup;
    char *found = NULL;

    if (name.size && memchr(name.data, '/', name.size))
        return memory_copy_string(name.data, name.size);
    context_defer(&cleanup, buffer_cleanup, &path);
    while (cursor && name.size && !found) {
        size_t size = strcspn(cursor, ":");

        path.size = 0;
        buffer_printf(&path, "%.*s/%.*s", (int)(size ? size : 1), size ? cursor : ".",
                      TEXT_ARG(name));
        buffer_char(&path, '\0');
        if (program_is(path.data)) {
            found = path.data;
            path = (struct buffer){0};
        }
        cursor = cursor[size] ? cursor + size + 1 : NULL;
    }
    context_clean(&cleanup);
    return found;
}
