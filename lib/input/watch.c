/* watch.c: a list of file versions, with a hash of the contents for those that are not settled. */
#include "input/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY /* for the size of the state */
#include <xxhash.h>

#include "diag/diag.h"

/* The buffer for reading a file. Like the hash's state it is on the stack, since a lack of memory
 * must not look like a change. */
#define PIECE ((size_t)8 << 10)

struct watched {
    bool is_tool;
    const char *path;
    struct file_version version;
    bool has_hash; /* of the contents */
    XXH128_hash_t hash;
};

/* The hash of a file's first `size` bytes. False when the file is shorter, or cannot be read. */
static bool hash_watched(const char *path, uint64_t size, XXH128_hash_t *hash)
{
    /* A pipe in its place must not keep the link waiting. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    uint8_t piece[PIECE];
    XXH3_state_t state;
    bool ok = fd >= 0;
    size_t part;

    XXH3_128bits_reset(&state);
    for (uint64_t at = 0; ok && at < size; at += part) {
        part = size - at < PIECE ? (size_t)(size - at) : PIECE;
        ok = descriptor_read(fd, piece, part, at);
        if (ok)
            XXH3_128bits_update(&state, piece, part);
    }
    if (fd >= 0)
        close(fd);
    *hash = XXH3_128bits_digest(&state);
    return ok;
}

static void add_watched(struct watch *watch, const char *path, struct watched watched)
{
    watched.path = arena_string(&watch->arena, text_of(path));
    ARRAY_PUSH(watch->list, watch->count, watch->capacity) = watched;
}

void watch_add(struct watch *watch, const char *path, const struct file_version *version,
               const struct bytes *contents)
{
    struct watched watched = {.version = *version, .has_hash = contents != NULL};

    if (!watch)
        return;
    if (contents)
        watched.hash = XXH3_128bits(contents->data, contents->size);
    add_watched(watch, path, watched);
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
    watched.has_hash = !file_version_is_settled(&watched.version) &&
                       hash_watched(path, watched.version.size, &watched.hash);
    add_watched(watch, path, watched);
}

#define REASON_SIZE 128

/* As file_version_change, and compares the hash if there is one. */
static const char *find_change(const struct watched *watched, char text[REASON_SIZE])
{
    const char *change = file_version_change(&watched->version, watched->path);
    XXH128_hash_t hash;

    if (change || !watched->has_hash)
        return change;
    errno = 0;
    if (!hash_watched(watched->path, watched->version.size, &hash)) {
        snprintf(text, REASON_SIZE, "it can no longer be read (%s)",
                 errno ? strerror(errno) : "it became shorter");
        return text;
    }
    return XXH128_isEqual(hash, watched->hash) ? NULL : "it was written to";
}

bool watch_check(struct watch *watch)
{
    size_t changed = 0;

    for (size_t i = 0; watch && i < watch->count; i++) {
        const struct watched *watched = &watch->list[i];
        char text[REASON_SIZE];
        const char *change = find_change(watched, text);

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
    char text[REASON_SIZE];

    for (size_t i = 0; i < watch->count; i++)
        if (watch->list[i].is_tool && find_change(&watch->list[i], text))
            return false;
    return true;
}

void watch_free(void *argument)
{
    struct watch *watch = argument;

    free(watch->list);
    arena_free(&watch->arena);
    *watch = (struct watch){0};
}
