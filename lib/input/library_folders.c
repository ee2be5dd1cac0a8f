/* library_folders.c: names of files to the folders that have them, in the folders' order. */
#include "input/library_folders.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/memory.h"

/* A folder that is being read. */
struct listing {
    DIR *stream;
    uint32_t folder;
};

static void close_listing(void *argument)
{
    struct listing *listing = argument;

    if (listing->stream)
        closedir(listing->stream);
}

static void add_name(struct library_folders *folders, const char *name, uint32_t folder)
{
    uint32_t at = (uint32_t)folders->count, first = table_find(&folders->names, text_of(name));

    if (first == TABLE_NONE) {
        const char *copy = arena_string(&folders->arena, text_of(name));

        first = table_add(&folders->names, text_of(copy), at);
    } else {
        folders->entries[folders->lasts[first]].next = at;
    }
    ARRAY_RESERVE(folders->lasts, folders->last_capacity, folders->count + 1);
    ARRAY_PUSH(folders->entries, folders->count, folders->capacity) =
        (struct library_folder_entry){folder, TABLE_NONE};
    folders->lasts[at] = folders->lasts[first] = at;
}

/* A folder that was read already has nothing that is not found there first. */
static bool is_new(struct library_folders *folders, struct table *known, DIR *stream)
{
    struct stat status;
    uint64_t *place;
    struct text key;

    if (fstat(dirfd(stream), &status) != 0)
        return true;
    place = arena_alloc(&folders->arena, 2, sizeof *place);
    place[0] = (uint64_t)status.st_dev;
    place[1] = (uint64_t)status.st_ino;
    key = (struct text){(const char *)place, 2 * sizeof *place};
    if (table_find(known, key) != TABLE_NONE)
        return false;
    table_add(known, key, 0);
    return true;
}

/* False when not all of the folder can be known. */
static bool read_folder(struct library_folders *folders, struct table *known, const char *path,
                        uint32_t folder)
{
    struct listing listing = {opendir(path), folder};
    const struct dirent *entry;
    bool ok = listing.stream || errno == ENOENT || errno == ENOTDIR;

    CONTEXT_DEFER(close_listing, &listing);
    if (listing.stream && is_new(folders, known, listing.stream)) {
        while (errno = 0, (entry = readdir(listing.stream)) != NULL)
            add_name(folders, entry->d_name, folder);
        ok = errno == 0;
    }
    return ok;
}

static void read_folders(struct library_folders *folders, const char *const *paths, size_t count)
{
    struct table known = {0};

    CONTEXT_DEFER(table_cleanup, &known);
    for (uint32_t i = 0; i < count; i++)
        if (!read_folder(folders, &known, paths[i], i))
            ARRAY_PUSH(folders->unlisted, folders->unlisted_count, folders->unlisted_capacity) = i;
    folders->are_read = true;
}

/* The path of a file that is there and no folder, or NULL. */
static const char *look(struct library_folders *folders, struct arena *arena, const char *folder,
                        const char *name)
{
    struct buffer path = {0};
    struct stat status;
    const char *found = NULL;

    CONTEXT_DEFER(buffer_cleanup, &path);
    buffer_printf(&path, "%s/%s", folder, name);
    buffer_char(&path, '\0');
    folders->looks++;
    if (stat(path.data, &status) == 0 && !S_ISDIR(status.st_mode))
        found = arena_string(arena, text_of(path.data));
    return found;
}

/* What was read says where to look, and nothing what could not be. */
static const char *look_where_it_is(struct library_folders *folders, struct arena *arena,
                                    const char *const *paths, const char *name)
{
    uint32_t at = table_find(&folders->names, text_of(name));
    const char *found = NULL;

    for (size_t i = 0; !found && (i < folders->unlisted_count || at != TABLE_NONE);) {
        uint32_t listed = at == TABLE_NONE ? UINT32_MAX : folders->entries[at].folder;
        uint32_t unlisted = i < folders->unlisted_count ? folders->unlisted[i] : UINT32_MAX;

        found = look(folders, arena, paths[listed < unlisted ? listed : unlisted], name);
        if (listed <= unlisted)
            at = folders->entries[at].next;
        if (unlisted <= listed)
            i++;
    }
    return found;
}

const char *library_folders_find(struct library_folders *folders, struct arena *arena,
                                 const char *const *paths, size_t count, const char *name)
{
    const char *found = NULL;

    if (!folders->are_read && folders->looks >= LIBRARY_FOLDERS_LOOKS)
        read_folders(folders, paths, count);
    if (folders->are_read && !strchr(name, '/'))
        return look_where_it_is(folders, arena, paths, name);
    for (size_t i = 0; !found && i < count; i++)
        found = look(folders, arena, paths[i], name);
    return found;
}

void library_folders_cleanup(void *argument)
{
    struct library_folders *folders = argument;

    table_free(&folders->names);
    free(folders->entries);
    free(folders->lasts);
    free(folders->unlisted);
    arena_free(&folders->arena);
    *folders = (struct library_folders){0};
}
