/* library_folders.h: which files stand in the folders where libraries are looked for.
 *
 * A few look-ups ask the file system for each path. A command line may have thousands of libraries
 * and of folders, where each library would be looked for in each folder: from so many looks on,
 * every folder is read once, and names are looked up in what was read. What is found is the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/* A file's name in a folder. */
struct library_folder_entry {
    uint32_t folder;
    uint32_t next; /* of the same name, in a later folder; or TABLE_NONE */
};

/* Start with {0}. */
struct library_folders {
    bool are_read;
    size_t looks; /* paths that the file system was asked for */
    struct arena arena;
    struct table names; /* to the first entry of each */
    struct library_folder_entry *entries;
    uint32_t *lasts; /* by entry that is the first of its name: the last of it */
    size_t count, capacity, last_capacity;
    uint32_t *unlisted; /* folders that cannot be read, whose files are asked for one by one */
    size_t unlisted_count, unlisted_capacity;
};

/* Looks on from which the folders are read: what they cost together is what a few folders do. */
#define LIBRARY_FOLDERS_LOOKS 1000u

/* The first of the `count` folders that has a file of that name, which is no folder. Its path, in
 * `arena`, or NULL. */
const char *library_folders_find(struct library_folders *folders, struct arena *arena,
                                 const char *const *paths, size_t count, const char *name);

/* library_folders' memory, for CONTEXT_DEFER. */
void library_folders_cleanup(void *folders);
