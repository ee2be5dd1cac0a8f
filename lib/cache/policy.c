/* policy.c: a table row for each key of a policy, with the units that its number can have; and
 * pruning, which walks over 256 subfolders, then removes the oldest entries first.
 *
 * Other links read, write and prune at the same time: a file that is gone when it should be removed
 * was removed by another link. Times are the file system's, as is that of the file `pruned`, so
 * that the clocks of machines which share the folder need not agree. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/search.h"
#include "cache/internal.h"

const struct cache_policy cache_policy_default = {
    .percent = 75,
    .files = 1000000,
    .expiry = UINT64_C(7) * 24 * 60 * 60,
    .interval = UINT64_C(20) * 60,
};

struct unit {
    char letter;
    uint64_t factor;
};

/* Each list ends with letter 0; if that row's factor is not 0, the number can have no unit. */
static const struct unit percents[] = {{'%', 1}, {0, 0}};
static const struct unit sizes[] = {
    {'k', UINT64_C(1) << 10}, {'m', UINT64_C(1) << 20}, {'g', UINT64_C(1) << 30}, {0, 1}};
static const struct unit counts[] = {{0, 1}};
static const struct unit durations[] = {{'s', 1},     {'m', 60},        {'h', 3600},
                                        {'d', 86400}, {'w', 7 * 86400}, {0, 0}};

static const struct policy_key {
    const char *name;
    const struct unit *units;
    const char *expected;
    uint64_t most;
    size_t field;
} keys[] = {
    {"cache_size", percents, "a percentage up to 100%", 100,
     offsetof(struct cache_policy, percent)},
    {"cache_size_bytes", sizes, "a number of bytes, or one with k, m or g behind it", UINT64_MAX,
     offsetof(struct cache_policy, bytes)},
    {"cache_size_files", counts, "a number", UINT64_MAX, offsetof(struct cache_policy, files)},
    {"prune_after", durations, "a number with s, m, h, d or w behind it", INT64_MAX,
     offsetof(struct cache_policy, expiry)},
    {"prune_interval", durations, "a number with s, m, h, d or w behind it", INT64_MAX,
     offsetof(struct cache_policy, interval)},
};

/* Ignores case. NULL when the number may not have the unit `letter`, or must have one. */
static const struct unit *find_unit(const struct unit *units, char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        letter = (char)(letter - 'A' + 'a');
    while (units->letter && units->letter != letter)
        units++;
    return units->factor && units->letter == letter ? units : NULL;
}

/* The value ends at a colon or at the end of a string. */
static bool read_value(const struct policy_key *key, struct text value, uint64_t *number)
{
    const struct unit *unit;
    char *end;

    if (value.size == 0 || *value.data < '0' || *value.data > '9')
        return false;
    errno = 0;
    *number = strtoull(value.data, &end, 10);
    value = text_drop(value, (size_t)(end - value.data));
    unit = value.size <= 1 ? find_unit(key->units, value.size ? *value.data : '\0') : NULL;
    return !errno && unit && !__builtin_mul_overflow(*number, unit->factor, number) &&
           *number <= key->most;
}

/* Length of the part of the faulty text that is shown. */
static int shown(struct text text)
{
    return text.size < 64 ? (int)text.size : 64;
}

static bool read_pair(struct cache_policy *policy, struct text pair, char *error)
{
    const char *equals = memchr(pair.data, '=', pair.size);
    size_t size = equals ? (size_t)(equals - pair.data) : pair.size;
    struct text name = {pair.data, size};
    struct text value = {pair.data + size + (equals != NULL), pair.size - size - (equals != NULL)};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint64_t number;

        if (!text_equal(name, text_of(keys[i].name)))
            continue;
        if (read_value(&keys[i], value, &number)) {
            memcpy((char *)policy + keys[i].field, &number, sizeof number);
            return true;
        }
        snprintf(error, CACHE_POLICY_ERROR_SIZE, "'%.*s' of '%s' is not %s", shown(value),
                 value.data, keys[i].name, keys[i].expected);
        return false;
    }
    snprintf(error, CACHE_POLICY_ERROR_SIZE,
             "'%.*s' is no key; known are cache_size, cache_size_bytes, cache_size_files, "
             "prune_after and prune_interval",
             shown(name), name.data);
    return false;
}

bool cache_policy_read(struct cache_policy *policy, const char *text,
                       char error[CACHE_POLICY_ERROR_SIZE])
{
    struct cache_policy result = cache_policy_default;

    while (*text) {
        size_t size = strcspn(text, ":");

        if (!read_pair(&result, (struct text){text, size}, error))
            return false;
        text += size + (text[size] == ':');
    }
    *policy = result;
    return true;
}

/* Seconds after which the writer of an unfinished file is assumed to have been killed. */
#define ABANDONED_AFTER (60 * 60)

#define STAMP_NAME "pruned"
#define SHELVES    256

struct kept {
    struct timespec used;
    uint64_t size;
    char name[ENTRY_NAME_SIZE];
};

struct pruning {
    const struct cache_policy *policy;
    int folder, stamp;
    DIR *shelf; /* that is being read, or NULL */
    time_t now;
    struct kept *list;
    size_t count, capacity;
    uint64_t bytes; /* of the entries in the list */
    struct pruned result;
};

static void end_pruning(void *argument)
{
    struct pruning *pruning = argument;

    if (pruning->shelf)
        closedir(pruning->shelf);
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

/* The part after the digits of a file's name in its subfolder: "", or ".<16 digits>" while the
 * entry is being written. NULL for a file that is not the cache's. */
static const char *find_suffix(const char *name)
{
    static const char digits[] = "0123456789abcdef";
    const size_t size = ENTRY_NAME_SIZE - sizeof "ab/";
    const char *suffix = name + size;

    if (strspn(name, digits) != size)
        return NULL;
    if (*suffix == '.' && strspn(suffix + 1, digits) == TEMPORARY_DIGITS)
        return suffix[1 + TEMPORARY_DIGITS] == '\0' ? suffix : NULL;
    return *suffix == '\0' ? suffix : NULL;
}

static void take_cached_file(struct pruning *pruning, unsigned shelf, const char *file)
{
    const char *suffix = find_suffix(file);
    char name[ENTRY_NAME_SIZE + 1 + TEMPORARY_DIGITS];
    struct stat status;
    uint64_t expiry, size;
    int64_t age;

    if (!suffix)
        return;
    snprintf(name, sizeof name, "%02x/%.47s", shelf & 0xffu, file);
    if (fstatat(pruning->folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
        return;
    size = (uint64_t)status.st_size;
    expiry = *suffix ? ABANDONED_AFTER : pruning->policy->expiry;
    age = pruning->now - status.st_mtim.tv_sec;
    if (expiry && age > 0 && (uint64_t)age > expiry) {
        remove_file(pruning, name, size);
    } else if (!*suffix) {
        struct kept *kept = &ARRAY_PUSH(pruning->list, pruning->count, pruning->capacity);

        *kept = (struct kept){.used = status.st_mtim, .size = size};
        memcpy(kept->name, name, ENTRY_NAME_SIZE);
        pruning->bytes += size;
    }
}

static void walk_shelves(struct pruning *pruning)
{
    for (unsigned shelf = 0; shelf < SHELVES; shelf++) {
        const struct dirent *entry;
        char name[3];
        int fd = -1;

        snprintf(name, sizeof name, "%02x", shelf & 0xffu);
        if (folder_has_shelf(pruning->folder, name, false))
            fd = openat(pruning->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        pruning->shelf = fdopendir(fd);
        if (!pruning->shelf) {
            close(fd);
            continue;
        }
        while ((entry = readdir(pruning->shelf)))
            take_cached_file(pruning, shelf, entry->d_name);
        closedir(pruning->shelf);
        pruning->shelf = NULL;
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

/* Whether the interval has passed since the stamp. One in the future is of a wrong clock. */
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

struct pruned prune_folder(int folder, const struct cache_policy *policy)
{
    struct pruning pruning = {.policy = policy, .folder = folder, .stamp = -1};

    CONTEXT_DEFER(end_pruning, &pruning);
    if (begin_pruning(&pruning)) {
        walk_shelves(&pruning);
        remove_oldest(&pruning);
    }
    return pruning.result;
}
