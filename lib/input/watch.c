/* watch.c: a list of file versions. */
#include "input/file.h"

#include <stdlib.h>

#include "diag/diag.h"

struct watched {
    bool is_tool;
    const char *path;
    struct file_version version;
};

static void add_watched(struct watch *watch, const char *path, struct watched watched)
{
    watched.path = arena_string(&watch->arena, text_of(path));
    ARRAY_PUSH(watch->list, watch->count, watch->capacity) = watched;
}

void watch_add(struct watch *watch, const char *path, const struct file_version *version)
{
    if (watch)
        add_watched(watch, path, (struct watched){.version = *version});
}

void watch_add_all(struct watch *watch, const struct watch *from)
{
    for (size_t i = 0; from && i < from->count; i++)
        add_watched(watch, from->list[i].path, from->list[i]);
}

void watch_add_tool(struct watch *watch, const char *path)
{
    struct watched watched = {.is_tool = true};
    struct stat status;

    if (!watch || !path || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    watched.version = file_version_of(&status);
    add_watched(watch, path, watched);
}

bool watch_check(struct watch *watch)
{
    size_t changed = 0;

    for (size_t i = 0; watch && i < watch->count; i++) {
        const struct watched *watched = &watch->list[i];
        const char *change = file_version_change(&watched->version, watched->path);

        if (change && !watch->has_told)
            diag_fatal("%s '%s' changed while the link ran: %s",
                       watched->is_tool ? "Tool" : "Input file", watched->path, change);
        changed += change != NULL;
    }
    if (changed == 0)
        return true;
    if (!watch->has_told)
        diag_note("Nothing of this link is kept: run it again when nobody writes to its files");
    watch->has_told = true;
    return false;
}

bool watch_holds(const struct watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *watched = &watch->list[i];

        if (watched->is_tool && file_version_change(&watched->version, watched->path))
            return false;
    }
    return true;
}

void watch_free(void *argument)
{
    struct watch *watch = argument;

    free(watch->list);
    arena_free(&watch->arena);
    *watch = (struct watch){0};
}
