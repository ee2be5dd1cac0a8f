/* program_path.c: walks along PATH. */
#include "os/program_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/context.h"

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

bool program_path_find(const char *name, char *path)
{
    const char *list = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    for (struct text folder; *name && program_path_next(&list, &folder);)
        if (snprintf(path, PATH_MAX, "%.*s/%s", TEXT_ARG(folder), name) < PATH_MAX &&
            program_path_is(path))
            return true;
    return false;
}

char *program_path_try(bool (*is_wanted)(const char *path), const char *format, ...)
{
    struct buffer path = {0};
    va_list arguments;

    CONTEXT_DEFER(buffer_cleanup, &path);
    va_start(arguments, format);
    buffer_vprintf(&path, format, arguments);
    va_end(arguments);
    return is_wanted(path.data) ? buffer_take(&path, NULL) : NULL;
}
