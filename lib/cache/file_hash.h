/* file_hash.h: the contents of large files, for keys, without reading them in every link.
 *
 * ptxas 13.0 has 38 MB and libnvJitLink 98 MB; to hash them takes 9 and 22 ms. So a hash is
 * remembered under what tells one state of a file from another: device, inode, size, and the times
 * of the last change of its contents and of its inode, in nanoseconds. A process remembers it in
 * memory, and processes hand it on in the cache folder.
 *
 * Properties. The time of the inode's change is the kernel's and no program can set it, so that a
 * file that is replaced or written to is another one. A hash is only remembered when that time is
 * older than two seconds: a later change cannot fall into the same tick of the clock. Where that
 * time is in whole seconds, as in images of file systems, which may give all files one time, 32
 * pieces of the contents count, too, which are read each time (30 us).
 * Safety. May be called by many threads at once. */
#pragma once

#include <stdbool.h>

#include "cache/cache.h"

struct file_hash {
    struct cache_key contents;
    bool has_text; /* the text that was looked for stands somewhere in the file */
};

/* Hashes the regular file `path`, and looks for `text` in it unless that is NULL. `cache` may be
 * NULL. False, with errno set, when the file cannot be read, or changes meanwhile (ESTALE). */
bool file_hash(struct file_hash *hash, struct cache *cache, const char *path, const char *text);

/* Adds the contents of a file to a key. False, with errno set, as file_hash(). */
bool file_hash_add(struct key *key, struct cache *cache, const char *path);

/* Adds the running program, even if its file has been replaced, and that file, which is another
 * under valgrind. For a library, that and the program that it runs. False, with errno set. */
bool file_hash_add_program(struct key *key, struct cache *cache);
