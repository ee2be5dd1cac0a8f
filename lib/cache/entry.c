/* entry.c: a header that allows to check every byte, and a folder that is checked, too.
 *
 * Cache contents end up in a program that somebody runs, so data that others could have written is
 * not used. Mode and owner are checked on the open folder, not on its path; an access list that
 * lets others write shows in the group's bits. */
#include "cache/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC  "minilnkC"
#define FORMAT 1u

static void put_hash(uint8_t hash[ENTRY_HASH_SIZE], const void *data, size_t size)
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    memcpy(hash, canonical.digest, ENTRY_HASH_SIZE);
}

static bool has_hash(const uint8_t expected[ENTRY_HASH_SIZE], const void *data, size_t size)
{
    uint8_t hash[ENTRY_HASH_SIZE];

    put_hash(hash, data, size);
    return memcmp(expected, hash, ENTRY_HASH_SIZE) == 0;
}

uint64_t entry_size(const struct cache_value *value)
{
    uint64_t size = ENTRY_HEADER_SIZE;

    for (unsigned i = 0; i < CACHE_PARTS; i++)
        size += value->parts[i].size;
    return size;
}

bool entry_header(struct entry_header *header, const struct cache_key *key,
                  const struct cache_value *value)
{
    *header = (struct entry_header){
        .format = FORMAT,
        .part_count = CACHE_PARTS,
        .key = *key,
        .nanoseconds = value->nanoseconds,
    };
    memcpy(header->magic, MAGIC, sizeof header->magic);
    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        const struct bytes *part = &value->parts[i];

        if (part->size > ENTRY_LARGEST)
            return false;
        header->parts[i].size = part->size;
        put_hash(header->parts[i].hash, part->data, part->size);
    }
    put_hash(header->hash, header, offsetof(struct entry_header, hash));
    return entry_size(value) <= ENTRY_LARGEST;
}

bool entry_fits(const struct entry_header *header, uint64_t size, const struct cache_key *key)
{
    uint64_t rest = size - ENTRY_HEADER_SIZE;

    if (size < ENTRY_HEADER_SIZE || size > ENTRY_LARGEST ||
        memcmp(header->magic, MAGIC, sizeof header->magic) != 0 || header->format != FORMAT ||
        header->part_count != CACHE_PARTS || memcmp(&header->key, key, sizeof *key) != 0 ||
        !has_hash(header->hash, header, offsetof(struct entry_header, hash)))
        return false;
    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        if (header->parts[i].size > rest)
            return false;
        rest -= header->parts[i].size;
    }
    return rest == 0;
}

bool entry_read(struct cache_value *value, const struct entry_header *header, struct bytes data)
{
    struct cache_value result = {.nanoseconds = header->nanoseconds};
    uint64_t offset = 0;

    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        struct bytes *part = &result.parts[i];

        if (!bytes_slice(data, offset, header->parts[i].size, part) ||
            !has_hash(header->parts[i].hash, part->data, part->size))
            return false;
        offset += part->size;
    }
    *value = result;
    return true;
}

bool folder_is_trusted(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the parent folders of `path`, as mkdir -p does, and `path` itself for the user alone. */
static bool make_folders(const char *path)
{
    char parent[PATH_MAX];
    size_t size = strlen(path);

    if (size >= sizeof parent) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(parent, path, size + 1);
    while (size > 1 && parent[size - 1] == '/')
        parent[--size] = '\0';
    for (size_t i = 1; i < size; i++) {
        if (parent[i] != '/')
            continue;
        parent[i] = '\0';
        if (mkdir(parent, 0777) && errno != EEXIST)
            return false;
        parent[i] = '/';
    }
    return mkdir(parent, 0700) == 0 || errno == EEXIST;
}

static int refuse_folder(int folder, const struct stat *status, char reason[FOLDER_REASON_SIZE])
{
    if (status->st_uid != geteuid())
        snprintf(reason, FOLDER_REASON_SIZE,
                 "it belongs to user %u, and must belong to user %u, who runs this link",
                 (unsigned)status->st_uid, (unsigned)geteuid());
    else
        snprintf(reason, FOLDER_REASON_SIZE,
                 "others may write to it (mode %04o); chmod go-w makes it the user's alone",
                 (unsigned)status->st_mode & 07777u);
    close(folder);
    return -1;
}

int folder_open(const char *path, char reason[FOLDER_REASON_SIZE])
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0 && errno == ENOENT && make_folders(path))
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fstat(folder, &status)) {
        snprintf(reason, FOLDER_REASON_SIZE, "%s", strerror(errno));
        if (folder >= 0)
            close(folder);
        return -1;
    }
    return folder_is_trusted(&status) ? folder : refuse_folder(folder, &status, reason);
}

/* No other user can replace a checked subfolder: nobody else may write to the folder. */
bool folder_has_shelf(int folder, const char *entry, bool make)
{
    const char shelf[] = {entry[0], entry[1], '\0'};
    struct stat status;

    if (make && mkdirat(folder, shelf, 0700) && errno != EEXIST)
        return false;
    if (fstatat(folder, shelf, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    if (S_ISDIR(status.st_mode) && folder_is_trusted(&status))
        return true;
    errno = S_ISDIR(status.st_mode) ? EPERM : ENOTDIR;
    return false;
}

void folder_entry(const struct cache_key *key, char entry[ENTRY_NAME_SIZE])
{
    for (size_t i = 0; i < CACHE_KEY_SIZE; i++)
        entry += sprintf(entry, i == 0 ? "%02x/" : "%02x", key->bytes[i]);
}
