/* internal.h: the files of the cache: what cache.c asks of entry.c and policy.c. */
#pragma once

#include <sys/stat.h>

#include "cache/cache.h"

struct pruned {
    uint64_t files, bytes;
};

/* If it is time to, removes entries that have not been used for too long, then the least recently
 * used ones until the rest is within the limits, and files that other links have left half written.
 * Does nothing while another link prunes, or in a read-only folder. Other files stay. */
struct pruned prune_folder(int folder, const struct cache_policy *policy);

/* entry.c: the file of a result: a header, whose numbers are little-endian, then the parts one
 * after the other. No byte is trusted until all have been checked. */
#define ENTRY_HEADER_SIZE 128u
#define ENTRY_HASH_SIZE   16u

/* Largest result that is stored. */
#define ENTRY_LARGEST (UINT64_C(1) << 31)

struct entry_header {
    char magic[8]; /* "minilnkC" */
    uint32_t format;
    uint32_t part_count;
    struct cache_key key;
    uint64_t nanoseconds; /* that the making took */
    struct {
        uint64_t size;
        uint8_t hash[ENTRY_HASH_SIZE]; /* its XXH3-128 */
    } parts[CACHE_PARTS];
    uint8_t hash[ENTRY_HASH_SIZE]; /* XXH3-128 of all that is before */
};

_Static_assert(sizeof(struct entry_header) == ENTRY_HEADER_SIZE, "it is written without padding");

/* Sets the header of an entry with that value. False when the value is too large. */
bool entry_header(struct entry_header *header, const struct cache_key *key,
                  const struct cache_value *value);

/* Bytes of the entry with that value. */
uint64_t entry_size(const struct cache_value *value);

/* Whether a file of `size` bytes with this header is an entry of that key, not cut. */
bool entry_fits(const struct entry_header *header, uint64_t size, const struct cache_key *key);

/* Reads an entry whose header fits; `data` is all that follows that. The parts are views of it.
 * False when it is damaged. */
bool entry_read(struct cache_value *value, const struct entry_header *header, struct bytes data);

/* "ab/cdef...", the name of an entry in the folder: two digits of its key, and the others. */
#define ENTRY_NAME_SIZE 34u

/* While an entry is being written, its name ends with a dot and this many digits. */
#define TEMPORARY_DIGITS 16u

/* The name of the key's entry. */
void folder_entry(const struct cache_key *key, char entry[ENTRY_NAME_SIZE]);

/* Size of the text that says why a folder is not used. */
#define FOLDER_REASON_SIZE 256

/* Opens `path`, making it and its parents if they are missing. -1, with the error in `reason`, when
 * that fails or the folder is not to be trusted. */
int folder_open(const char *path, char reason[FOLDER_REASON_SIZE]);

/* Whether there is a subfolder for that entry, or others that begin so; with `make`, makes it if it
 * is missing. False, with errno set, when it is missing or not to be trusted (EPERM). */
bool folder_has_shelf(int folder, const char *entry, bool make);

/* True if it belongs to the user and nobody else can write to it. */
bool folder_is_trusted(const struct stat *status);
