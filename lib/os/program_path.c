/* program_path.c: walks along PATH. */
#include "os/program_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/memory.h"

bool program_path_is(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_path_next(const char **list, struct text *folder)
{
    const char *at = *list;
    size_t size = at ? strcspn(at, ":") : 0;

    if (!at)
        return false;
    *folder = size ? (struct text){at, size} : TEXT(".");
    *list = at[size] ? at + size + 1 : NULL;
    return true;
}

char *program_path_find(struct text name)
{
    const char *list = getenv("PATH");
    struct text folder;
    struct buffer path = {0};
    char *found = NULL;

    if (name.size && memchr(name.data, '/', name.size))
        return memory_copy_string(name.data, name.size);
    CONTEXT_DEFER(buffer_cleanup, &path);
    while (name.size && !found && program_path_next(&list, &folder)) {
        path.size = 0;
        buffer_printf(&path, "%.*s/%.*s", TEXT_ARG(folder), TEXT_ARG(name));
        buffer_char(&path, '\0');
        if (program_path_is(path.data)) {
            found = path.data;
            path = (struct buffer){0};
        }
    }
    return found;
}
