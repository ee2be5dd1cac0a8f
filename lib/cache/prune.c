/* prune.c: walks over the subfolders, then removes the oldest entries first.
 *
 * Other links read, write and prune at the same time: a file that is gone when it should be removed
 * was removed by another link. Times are the file system's, as is that of the file `pruned`, so
 * that the clocks of machines which share the folder need not agree. */
#include "cache/policy.h"

#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/search.h"
#include "cache/entry.h"

/* Seconds after which the writer of an unfinished file is assumed to have been killed. */
#define ABANDONED_AFTER (60 * 60)

#define STAMP_NAME "pruned"

struct kept {
    struct timespec used;
    uint64_t size;
    char name[ENTRY_NAME_SIZE];
};

struct pruning {
    const struct cache_policy *policy;
    int folder, stamp;
    FTS *walk;
    time_t now;
    struct kept *list;
    size_t count, capacity;
    uint64_t bytes; /* of the entries in the list */
    struct pruned result;
};

static void end_pruning(void *argument)
{
    struct pruning *pruning = argument;

    if (pruning->walk)
        fts_close(pruning->walk);
    if (pruning->stamp >= 0)
        close(pruning->stamp); /* which unlocks it */
    free(pruning->list);
}

static void remove_file(struct pruning *pruning, const char *name, uint64_t size)
{
    if (unlinkat(pruning->folder, name, 0))
        return;
    pruning->result.files++;
    pruning->result.bytes += size;
}

static const char digits[] = "0123456789abcdef";

/* The part after the digits of a file's name in its subfolder: "", or ".<16 digits>" while the
 * entry is being written. NULL for a file that is not the cache's. */
static const char *find_suffix(const char *name)
{
    const size_t size = ENTRY_NAME_SIZE - sizeof "ab/";
    const char *suffix = name + size;

    if (strspn(name, digits) != size)
        return NULL;
    if (*suffix == '.' && strspn(suffix + 1, digits) == TEMPORARY_DIGITS)
        return suffix[1 + TEMPORARY_DIGITS] == '\0' ? suffix : NULL;
    return *suffix == '\0' ? suffix : NULL;
}

static void take_cached_file(struct pruning *pruning, const FTSENT *file)
{
    const char *suffix = find_suffix(file->fts_name);
    uint64_t size = (uint64_t)file->fts_statp->st_size, expiry;
    int64_t age = pruning->now - file->fts_statp->st_mtim.tv_sec;
    char name[ENTRY_NAME_SIZE + 1 + TEMPORARY_DIGITS];

    if (!suffix)
        return;
    snprintf(name, sizeof name, "%.2s/%.47s", file->fts_parent->fts_name, file->fts_name);
    expiry = *suffix ? ABANDONED_AFTER : pruning->policy->expiry;
    if (expiry && age > 0 && (uint64_t)age > expiry) {
        remove_file(pruning, name, size);
    } else if (!*suffix) {
        struct kept *kept = &ARRAY_PUSH(pruning->list, pruning->count, pruning->capacity);

        *kept = (struct kept){.used = file->fts_statp->st_mtim, .size = size};
        memcpy(kept->name, name, ENTRY_NAME_SIZE);
        pruning->bytes += size;
    }
}

/* Files are removed by name in the open folder: what another folder at its path has stays. */
static void walk_shelves(struct pruning *pruning, const char *path)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL};
    FTSENT *entry;

    pruning->walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    while (pruning->walk && (entry = fts_read(pruning->walk))) {
        bool is_shelf = entry->fts_level == 1 && entry->fts_namelen == 2 &&
                        strspn(entry->fts_name, digits) == 2 && folder_is_trusted(entry->fts_statp);

        if (entry->fts_info == FTS_D && entry->fts_level > 0 && !is_shelf)
            fts_set(pruning->walk, entry, FTS_SKIP);
        if (entry->fts_info == FTS_F && entry->fts_level == 2)
            take_cached_file(pruning, entry);
    }
}

COMPARISON(by_use, struct kept,
           COMPARE(a->used.tv_sec, b->used.tv_sec) ?: COMPARE(a->used.tv_nsec, b->used.tv_nsec)
               ?: strcmp(a->name, b->name));

/* Limit of the bytes that may stay. The space that the cache uses counts as free. */
static uint64_t limit_bytes(const struct pruning *pruning)
{
    uint64_t limit = pruning->policy->bytes ? pruning->policy->bytes : UINT64_MAX;
    struct statvfs status;
    double share;

    if (pruning->policy->percent == 0 || fstatvfs(pruning->folder, &status))
        return limit;
    share = ((double)status.f_bavail * (double)status.f_frsize + (double)pruning->bytes) *
            (double)pruning->policy->percent / 100;
    return share < (double)limit ? (uint64_t)share : limit;
}

static void remove_oldest(struct pruning *pruning)
{
    uint64_t files = pruning->policy->files ? pruning->policy->files : UINT64_MAX;
    uint64_t bytes = limit_bytes(pruning);

    if (pruning->count <= files && pruning->bytes <= bytes)
        return;
    qsort(pruning->list, pruning->count, sizeof *pruning->list, by_use);
    for (size_t i = 0; pruning->count - i > files || pruning->bytes > bytes; i++) {
        remove_file(pruning, pruning->list[i].name, pruning->list[i].size);
        pruning->bytes -= pruning->list[i].size;
    }
}

/* Whether the interval has passed since the stamp was set. A stamp in the future was set by a wrong
 * clock. */
static bool is_time(const struct pruning *pruning, const struct stat *stamp)
{
    int64_t passed = (int64_t)(time(NULL) - stamp->st_mtim.tv_sec);

    return (uint64_t)(passed < 0 ? -passed : passed) >= pruning->policy->interval;
}

/* Locks the stamp, unless another link has locked it, and sets it when it is time to prune. False
 * when it is not time, or when that fails. */
static bool begin_pruning(struct pruning *pruning)
{
    struct stat status;

    pruning->stamp = openat(pruning->folder, STAMP_NAME,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (pruning->stamp < 0 || flock(pruning->stamp, LOCK_EX | LOCK_NB) ||
        fstat(pruning->stamp, &status) || !S_ISREG(status.st_mode) || !is_time(pruning, &status) ||
        futimens(pruning->stamp, NULL) || fstat(pruning->stamp, &status))
        return false;
    pruning->now = status.st_mtim.tv_sec;
    return true;
}

struct pruned prune_folder(int folder, const char *path, const struct cache_policy *policy)
{
    struct pruning pruning = {.policy = policy, .folder = folder, .stamp = -1};

    CONTEXT_DEFER(end_pruning, &pruning);
    if (begin_pruning(&pruning)) {
        walk_shelves(&pruning, path);
        remove_oldest(&pruning);
    }
    return pruning.result;
}
