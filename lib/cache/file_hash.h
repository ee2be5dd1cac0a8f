/* file_hash.h: hashes of large files for keys, without reading the files in every link.
 *
 * ptxas 13.0 has 38 MB and libnvJitLink 98 MB; hashing them takes 9 and 22 ms. So the cache has an
 * entry with the hash for each version of such a file: its device, inode, size, and the times of
 * the last change of its contents and of its inode, in nanoseconds.
 *
 * The kernel sets the time of the inode's change and no program can, so a file that is replaced or
 * written to has a different version. A hash is stored only if that time is more than two seconds
 * ago: a later change then cannot fall into the same clock tick; and not if it is in whole seconds,
 * as in images of file systems, which can give all files the same time. */
#pragma once

#include "cache/cache.h"

struct file_hash {
    struct cache_key contents;
    bool has_text; /* the file contains the text */
};

/* Hashes the regular file `path`, and searches it for `text` unless that is NULL. `cache` may be
 * NULL. False, with errno set, when the file cannot be read, or changes in the meantime (ESTALE).
 */
bool file_hash(struct file_hash *hash, struct cache *cache, const char *path, const char *text);

/* Adds the contents of a file to a key. False, with errno set, as in file_hash(). */
bool file_hash_add(struct key *key, struct cache *cache, const char *path);

/* Adds the running program to the key, even if its file has been replaced, and also that file if it
 * is a different one, as under valgrind. In a library, adds the library and the program that it
 * runs. False, with errno set. */
bool file_hash_add_program(struct key *key, struct cache *cache);
