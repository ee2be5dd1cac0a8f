/* cache.c: finds, reads, writes and counts entries.
 *
 * A fault in an entry makes it a miss; one in the folder is reported once, at the end. */
#include "cache/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "diag/diag.h"
#include "input/file.h"
#include "os/file.h"

/* An entry that this link writes or has written, in a list that any thread can add to. */
struct kept {
    struct kept *previous;
    enum cache_kind kind;
    bool is_stored;
    char entry[ENTRY_NAME_SIZE];
    char temporary[]; /* path of the file that becomes the entry; a signal handler may read it */
};

struct cache {
    const char *path;
    struct cache_policy policy;
    int folder;
    struct cache_statistics statistics; /* counted by all threads: count() */
    atomic_int write_error; /* errno of the first failure to write; nothing is written after it */
    bool has_given_up;      /* the reason has been reported */
    const struct watch *watch; /* or NULL */
    struct kept *_Atomic kept; /* the last entry that was written */
};

static void count(uint64_t *counter, uint64_t number)
{
    __atomic_fetch_add(counter, number, __ATOMIC_RELAXED);
}

struct cache *cache_open(const struct cache_request *request, const struct watch *watch)
{
    char reason[FOLDER_REASON_SIZE];
    struct cache *cache;

    if (!request->folder)
        return NULL;
    cache = memory_zalloc(1, sizeof *cache);
    cache->path = request->folder;
    cache->policy = request->policy;
    cache->watch = watch;
    cache->folder = folder_open(request->folder, reason);
    if (cache->folder >= 0)
        return cache;
    free(cache);
    diag_caution("Cache folder '%s' is not used: %s", request->folder, reason);
    return NULL;
}

/* Reads all of an open entry into memory of its own. False when it cannot be read, or is damaged.
 * The header is checked first, so that no memory is allocated for a file of arbitrary size. */
static bool read_open_entry(int fd, const struct cache_key *key, struct cache_value *value,
                            bool *is_damaged)
{
    struct entry_header header;
    struct stat status;
    size_t size;
    uint8_t *data;

    if (fstat(fd, &status))
        return false;
    *is_damaged = !S_ISREG(status.st_mode) || !folder_is_trusted(&status) ||
                  !descriptor_read(fd, &header, sizeof header, 0) ||
                  !entry_fits(&header, (uint64_t)status.st_size, key);
    if (*is_damaged)
        return false;
    size = (size_t)status.st_size - sizeof header;
    data = malloc(size + 1);
    if (data && descriptor_read(fd, data, size, sizeof header)) {
        *is_damaged = !entry_read(value, &header, (struct bytes){data, size});
        if (!*is_damaged) {
            value->owner = data;
            return true;
        }
    }
    free(data);
    return false;
}

/* Reads an entry; removes it if it is not whole. */
static bool read_value_entry(struct cache *cache, const char *entry, const struct cache_key *key,
                             struct cache_value *value)
{
    int fd =
        openat(cache->folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool is_damaged = fd < 0 && errno == ELOOP;
    bool ok = fd >= 0 && read_open_entry(fd, key, value, &is_damaged);

    if (ok) {
        futimens(fd, NULL); /* marks it as used; failure is ignored */
        count(&cache->statistics.read_bytes, entry_size(value));
        count(&cache->statistics.saved_nanoseconds, value->nanoseconds);
    }
    if (is_damaged && unlinkat(cache->folder, entry, 0) == 0)
        count(&cache->statistics.damaged, 1);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool cache_lookup(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                  struct cache_value *value)
{
    char entry[ENTRY_NAME_SIZE];
    bool ok;

    if (!cache)
        return false;
    folder_entry(key, entry);
    ok =
        folder_has_shelf(cache->folder, entry, false) && read_value_entry(cache, entry, key, value);
    count(ok ? &cache->statistics.kinds[kind].hits : &cache->statistics.kinds[kind].misses, 1);
    return ok;
}

bool cache_has(struct cache *cache, const struct cache_key *key)
{
    char entry[ENTRY_NAME_SIZE];

    folder_entry(key, entry);
    return folder_has_shelf(cache->folder, entry, false) &&
           faccessat(cache->folder, entry, R_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void cache_value_free(struct cache_value *value)
{
    free(value->owner);
    *value = (struct cache_value){0};
}

/* An entry in the list, or NULL. Its file has a random number: other links may write it. */
static struct kept *begin_entry(struct cache *cache, enum cache_kind kind,
                                const struct cache_key *key)
{
    size_t size = strlen(cache->path) + sizeof "/" + ENTRY_NAME_SIZE + TEMPORARY_DIGITS;
    struct kept *kept = malloc(sizeof *kept + size);
    uint64_t number;

    if (!kept || getrandom(&number, sizeof number, 0) != sizeof number) {
        free(kept);
        return NULL;
    }
    *kept = (struct kept){.previous = atomic_load(&cache->kept), .kind = kind};
    folder_entry(key, kept->entry);
    snprintf(kept->temporary, size, "%s/%s.%016" PRIx64, cache->path, kept->entry, number);
    while (!atomic_compare_exchange_weak(&cache->kept, &kept->previous, kept))
        continue;
    return kept;
}

static bool write_values(int fd, const struct entry_header *header, const struct cache_value *value)
{
    bool ok = descriptor_write(fd, header, sizeof *header);

    for (unsigned i = 0; i < CACHE_PARTS && ok; i++)
        ok = descriptor_write(fd, value->parts[i].data, value->parts[i].size);
    return ok;
}

/* Writes a file beside the entry's place, which becomes the entry in one step. It is not flushed to
 * the disk: reading detects an entry that a machine's crash has cut. False with errno. */
static bool write_entry(const struct cache *cache, const struct kept *kept,
                        const struct entry_header *header, const struct cache_value *value)
{
    const char *name = kept->temporary + strlen(cache->path) + 1;
    int fd, error;
    bool ok;

    if (!folder_has_shelf(cache->folder, kept->entry, true))
        return false;
    fd = openat(cache->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    ok = write_values(fd, header, value);
    ok = close(fd) == 0 && ok && renameat(cache->folder, name, cache->folder, kept->entry) == 0;
    error = errno;
    if (!ok)
        unlinkat(cache->folder, name, 0);
    errno = error;
    return ok;
}

static void forget_entries(struct cache *cache)
{
    struct kept *kept = atomic_exchange(&cache->kept, NULL);

    while (kept) {
        struct kept *previous = kept->previous;

        free(kept);
        kept = previous;
    }
}

void cache_take_back(struct cache *cache)
{
    if (!cache)
        return;
    for (const struct kept *kept = atomic_load(&cache->kept); kept; kept = kept->previous)
        if (kept->is_stored && folder_has_shelf(cache->folder, kept->entry, false) &&
            unlinkat(cache->folder, kept->entry, 0) == 0)
            cache->statistics.kinds[kept->kind].stored--;
    forget_entries(cache);
}

void cache_store(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                 const struct cache_value *value)
{
    struct entry_header header;
    struct kept *kept;
    int none = 0, slot;

    if (!cache || atomic_load(&cache->write_error) || !entry_header(&header, key, value))
        return;
    if (cache->watch && !watch_holds(cache->watch))
        return;
    kept = begin_entry(cache, kind, key);
    /* Noted before the file is there: a signal finds it whenever it comes. */
    slot = kept ? leftover_note(kept->temporary) : -1;
    if (slot < 0)
        return;
    kept->is_stored = write_entry(cache, kept, &header, value);
    leftover_forget(slot);
    if (kept->is_stored) {
        count(&cache->statistics.kinds[kind].stored, 1);
        count(&cache->statistics.written_bytes, entry_size(value));
    } else {
        atomic_compare_exchange_strong(&cache->write_error, &none, errno ? errno : EIO);
    }
}

void cache_give_up(struct cache *cache, const char *format, ...)
{
    LOCAL_BUFFER(reason);
    va_list arguments;

    if (!cache || cache->has_given_up)
        return;
    cache->has_given_up = true;
    va_start(arguments, format);
    buffer_vprintf(&reason, format, arguments);
    va_end(arguments);
    diag_caution("Cache folder '%s' is not used: %.*s", cache->path,
                 TEXT_ARG(buffer_view(&reason)));
}

static enum link_code finish_maintenance(void *argument)
{
    struct cache *cache = argument;
    int error = atomic_load(&cache->write_error);
    struct pruned pruned;

    if (error)
        diag_caution("Could not write to cache folder '%s': %s", cache->path, strerror(error));
    pruned = prune_folder(cache->folder, &cache->policy);
    cache->statistics.pruned = pruned.files;
    cache->statistics.pruned_bytes = pruned.bytes;
    return LINK_OK;
}

void cache_finish(struct cache *cache)
{
    /* If memory runs out, the folder is pruned another time. */
    if (cache)
        context_run(finish_maintenance, cache);
}

const struct cache_statistics *cache_statistics(const struct cache *cache)
{
    static const struct cache_statistics none;

    return cache ? &cache->statistics : &none;
}

void cache_describe(const struct cache *cache, struct buffer *text)
{
    static const char *const names[CACHE_KINDS] = {
        [CACHE_LTO] = "LTO parts", [CACHE_CHUNK] = "chunks"};
    const struct cache_statistics *counts = cache_statistics(cache);

    if (!cache) {
        buffer_string(text, "cache: none is used\n");
        return;
    }
    buffer_printf(text, "cache '%s':\n", cache->path);
    for (int i = 0; i < CACHE_KINDS; i++)
        buffer_printf(text, "  %-11s  %" PRIu64 " found, %" PRIu64 " not found, %" PRIu64 " kept\n",
                      names[i], counts->kinds[i].hits, counts->kinds[i].misses,
                      counts->kinds[i].stored);
    buffer_printf(text,
                  "  bytes        %" PRIu64 " read, %" PRIu64 " written\n"
                  "  removed      %" PRIu64 " damaged, %" PRIu64 " pruned (%" PRIu64 " bytes)\n"
                  "  saved        %.3f s of work\n",
                  counts->read_bytes, counts->written_bytes, counts->damaged, counts->pruned,
                  counts->pruned_bytes, (double)counts->saved_nanoseconds / 1e9);
}

void cache_close(struct cache *cache)
{
    if (!cache)
        return;
    forget_entries(cache);
    close(cache->folder);
    free(cache);
}
