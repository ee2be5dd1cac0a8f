/* Tests of the cache: keys, entries, whom it trusts, what it does with damage, and how it is kept
 * small. Each has a folder of its own. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cache/internal.h"
#include "files.h"
#include "messages.h"
#include "os/file.h"
#include "suite.h"

#define HOUR 3600
#define DAY  (24 * HOUR)

static char folder[64];
static struct cache_request request;
static struct cache *cache;

void set_up(void)
{
    strcpy(folder, "/tmp/check_cache.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    messages_catch();
    request = (struct cache_request){.folder = folder, .policy = cache_policy_default};
    cache = cache_open(&request, NULL);
    ck_assert_ptr_nonnull(cache);
}

void tear_down(void)
{
    cache_close(cache);
    chmod(folder, 0700);
    files_remove_folder(folder);
}

static void reopen(void)
{
    cache_close(cache);
    cache = cache_open(&request, NULL);
}

static const char *in_folder(const char *name)
{
    static char paths[4][256];
    static int at;
    char *path = paths[at++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

static void check_said(const char *expected)
{
    messages_expect_part(expected);
    messages_catch();
}

/* The key of a number. */
static struct cache_key key_of(uint64_t number)
{
    struct key key;

    key_begin(&key, "test");
    key_number(&key, number);
    return key_end(&key);
}

/* Where the number's entry is. */
static const char *path_of(uint64_t number)
{
    struct cache_key key = key_of(number);
    char entry[ENTRY_NAME_SIZE];

    folder_entry(&key, entry);
    return in_folder(entry);
}

static struct bytes bytes_of(const char *string)
{
    return (struct bytes){(const uint8_t *)string, strlen(string)};
}

static const struct cache_value sample = {
    .parts = {{(const uint8_t *)"a cubin, or as good as one", 26},
              {NULL, 0},
              {(const uint8_t *)"!", 1}},
    .nanoseconds = 123456789,
};

static void store_number(uint64_t number)
{
    struct cache_key key = key_of(number);

    cache_store(cache, CACHE_CHUNK, &key, &sample);
}

/* True when the sample is found, and all of it; false when nothing is. */
static bool find_number(uint64_t number)
{
    struct cache_key key = key_of(number);
    OWNED(cache_value) value = {0};

    if (!cache_lookup(cache, CACHE_CHUNK, &key, &value))
        return false;
    for (unsigned i = 0; i < CACHE_PARTS; i++) {
        ck_assert_uint_eq(value.parts[i].size, sample.parts[i].size);
        ck_assert(value.parts[i].size == 0 ||
                  memcmp(value.parts[i].data, sample.parts[i].data, value.parts[i].size) == 0);
    }
    ck_assert_uint_eq(value.nanoseconds, sample.nanoseconds);
    return true;
}

static bool same(struct cache_key a, struct cache_key b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The key of a row of items, told by letters: t and T are the texts "ab" and "a", b the bytes "b",
 * n the number 0, e an empty string, 0 none, l an empty list, L one of "ab". */
static struct cache_key key_of_row(const char *what, const char *row)
{
    static const char *const list[] = {"ab", NULL};
    const struct cache_key zero = {0};
    struct key key;

    key_begin(&key, what);
    for (; *row; row++) {
        switch (*row) {
        case 't':
            key_text(&key, TEXT("ab"));
            break;
        case 'T':
            key_text(&key, TEXT("a"));
            break;
        case 'b':
            key_bytes(&key, bytes_of("b"));
            break;
        case 'n':
            key_number(&key, 0);
            break;
        case 'z':
            key_bytes(&key, (struct bytes){(const uint8_t *)"\0\0\0\0\0\0\0", 8});
            break;
        case 'e':
            key_string(&key, "");
            break;
        case '0':
            key_string(&key, NULL);
            break;
        case 'l':
            key_strings(&key, NULL);
            break;
        case 'L':
            key_strings(&key, list);
            break;
        case 'k':
            key_key(&key, &zero);
            break;
        default:
            ck_abort();
        }
    }
    return key_end(&key);
}

TEST(different_rows_have_different_keys)
{
    static const char *const rows[] = {"",   "t",  "T", "b",  "Tb", "bT", "n",  "z",  "nn",
                                       "e",  "ee", "0", "l",  "L",  "lt", "tl", "e0", "0e",
                                       "nt", "tn", "k", "zz", "00", "ll", "Ll"};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(same(key_of_row("a", rows[i]), key_of_row("a", rows[i])));
        ck_assert(!same(key_of_row("a", rows[i]), key_of_row("b", rows[i])));
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(!same(key_of_row("a", rows[i]), key_of_row("a", rows[j])),
                          "'%s' and '%s'", rows[i], rows[j]);
    }
}

static bool key_of_file(const char *path, struct cache_key *result)
{
    struct key key;
    bool ok;

    key_begin(&key, "file");
    ok = file_hash_add(&key, NULL, path);
    *result = key_end(&key);
    return ok;
}

TEST(a_file_is_its_contents)
{
    static char data[600000]; /* more than is read at a time */
    struct cache_key key, other;

    files_save(in_folder("a"), data, sizeof data);
    ck_assert(key_of_file(in_folder("a"), &key));
    ck_assert_int_eq(rename(in_folder("a"), in_folder("b")), 0);
    ck_assert(key_of_file(in_folder("b"), &other) && same(key, other));
    data[sizeof data - 1] = 1;
    files_save(in_folder("b"), data, sizeof data);
    ck_assert(key_of_file(in_folder("b"), &other) && !same(key, other));
    data[sizeof data - 1] = 0;
    files_save(in_folder("b"), data, sizeof data - 1);
    ck_assert(key_of_file(in_folder("b"), &other) && !same(key, other));
    files_save(in_folder("b"), data, sizeof data);
    ck_assert(key_of_file(in_folder("b"), &other) && same(key, other));
    ck_assert(!key_of_file(in_folder("a"), &other));
    ck_assert(!key_of_file(folder, &other));
    ck_assert_int_eq(mkfifo(in_folder("fifo"), 0600), 0);
    ck_assert(!key_of_file(in_folder("fifo"), &other));
}

/* Seconds that the file cache thinks have passed since the test began. */
static int passed_seconds;

/* In place of libc's, so that nobody has to wait until a file is old enough to be remembered. */
int clock_gettime(clockid_t id, struct timespec *time)
{
    int code = (int)syscall(SYS_clock_gettime, id, time);

    if (id == CLOCK_REALTIME)
        time->tv_sec += passed_seconds;
    return code;
}

#define LARGE ((off_t)17 << 20)

static void make_large(const char *path, char byte)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    ck_assert_int_eq(ftruncate(fd, LARGE), 0);
    ck_assert_int_eq((int)pwrite(fd, &byte, 1, LARGE - 1), 1);
    close(fd);
}

TEST(a_large_file_is_read_once_while_it_stays_the_same)
{
    const char *path = in_folder("tool");
    const struct timespec times[2] = {{1, 1}, {1, 1}};
    struct file_hash one, other;
    uint64_t written;

    make_large(path, 1);
    ck_assert(file_hash(&one, cache, path, NULL));
    ck_assert_uint_eq(cache_statistics(cache)->written_bytes, 0); /* too young */
    passed_seconds = 10;
    ck_assert(file_hash(&one, cache, path, NULL));
    reopen();
    ck_assert(file_hash(&other, cache, path, NULL));
    ck_assert(same(one.contents, other.contents));
    ck_assert_uint_eq(cache_statistics(cache)->written_bytes, 0); /* it was in the folder */
    ck_assert_uint_gt(cache_statistics(cache)->read_bytes, 0);
    /* Another state of it, whatever its own times say. */
    make_large(path, 2);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert(file_hash(&one, cache, path, NULL) && !same(one.contents, other.contents));
    written = cache_statistics(cache)->written_bytes;
    ck_assert_uint_gt(written, 0);
    make_large(path, 1);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert(file_hash(&one, cache, path, NULL) && same(one.contents, other.contents));
    ck_assert_uint_gt(cache_statistics(cache)->written_bytes, written);
}

TEST(a_text_is_found_wherever_it_stands)
{
    static const size_t places[] = {0, 1000, ((size_t)1 << 18) - 3, (size_t)1 << 18, 299996};
    static char data[300000];
    struct file_hash hash;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memset(data, 'a', sizeof data);
        memcpy(data + places[i], "text", 4);
        files_save(in_folder("a"), data, sizeof data);
        ck_assert(file_hash(&hash, NULL, in_folder("a"), "text") && hash.has_text);
        ck_assert(file_hash(&hash, NULL, in_folder("a"), "test") && !hash.has_text);
        ck_assert(file_hash(&hash, NULL, in_folder("a"), NULL) && !hash.has_text);
    }
}

TEST(a_variable_counts_with_its_name)
{
    struct cache_key keys[3];

    for (int i = 0; i < 3; i++) {
        struct key key;

        unsetenv("CHECK_CACHE_A");
        unsetenv("CHECK_CACHE_B");
        if (i > 0)
            setenv(i == 1 ? "CHECK_CACHE_A" : "CHECK_CACHE_B", "", 1);
        key_begin(&key, "variables");
        key_variable(&key, "CHECK_CACHE_A");
        key_variable(&key, "CHECK_CACHE_B");
        keys[i] = key_end(&key);
    }
    ck_assert(!same(keys[0], keys[1]) && !same(keys[0], keys[2]) && !same(keys[1], keys[2]));
}

TEST(what_is_kept_is_found_by_its_key_alone)
{
    const struct cache_statistics *counts;

    ck_assert(!find_number(1));
    store_number(1);
    ck_assert(find_number(1));
    ck_assert(!find_number(2));
    reopen();
    ck_assert(find_number(1));
    counts = cache_statistics(cache);
    ck_assert_uint_eq(counts->kinds[CACHE_CHUNK].hits, 1);
    ck_assert_uint_eq(counts->kinds[CACHE_CHUNK].misses, 0);
    ck_assert_uint_eq(counts->read_bytes, ENTRY_HEADER_SIZE + 27);
    ck_assert_uint_eq(counts->saved_nanoseconds, 123456789);
    messages_expect("");
}

TEST(no_cache_has_nothing_and_keeps_nothing)
{
    static const struct cache_request none = {.statistics = true};
    OWNED(buffer) text = {0};

    cache_close(cache);
    cache = cache_open(&none, NULL);
    ck_assert_ptr_null(cache);
    store_number(1);
    ck_assert(!find_number(1));
    cache_give_up(cache, "for no reason");
    cache_finish(cache);
    cache_describe(cache, &text);
    ck_assert(text_equal(buffer_view(&text), TEXT("cache: none is used\n")));
    ck_assert_uint_eq(cache_statistics(cache)->damaged, 0);
    messages_expect("");
}

TEST(an_entry_under_another_name_is_not_believed)
{
    store_number(1);
    store_number(2);
    ck_assert_int_eq(rename(path_of(1), path_of(2)), 0);
    ck_assert(!find_number(2));
    ck_assert(!is_there(path_of(2)));
    ck_assert_uint_eq(cache_statistics(cache)->damaged, 1);
}

/* A cubin's entry, as it is in the folder. */
#define CUBIN 77
static struct buffer whole;

static void store_cubin(void)
{
    OWNED(buffer) cubin = files_load("fixtures/fatbin/k.sm90.cubin");
    struct cache_value value = {.parts = {buffer_bytes(&cubin), bytes_of("a message\n")}};
    struct cache_key key = key_of(CUBIN);

    cache_store(cache, CACHE_CHUNK, &key, &value);
    whole = files_load(path_of(CUBIN));
    ck_assert_uint_eq(whole.size, entry_size(&value));
    ck_assert_uint_gt(whole.size, 1000);
}

static void write_cubin(const void *bytes, size_t size)
{
    files_save(path_of(CUBIN), bytes, size);
    chmod(path_of(CUBIN), 0600);
}

/* Where the entry is damaged: it is not found, and gone. */
static void check_damaged(const char *what, size_t at)
{
    struct cache_key key = key_of(CUBIN);
    struct cache_value value;

    ck_assert_msg(!cache_lookup(cache, CACHE_CHUNK, &key, &value), "%s at %zu is believed", what,
                  at);
    ck_assert_msg(!is_there(path_of(CUBIN)), "%s at %zu stays", what, at);
}

TEST(a_changed_byte_is_a_miss_and_goes_away)
{
    store_cubin();
    for (size_t i = 0; i < whole.size; i++) {
        char was = whole.data[i];

        whole.data[i] = (char)~was;
        write_cubin(whole.data, whole.size);
        check_damaged("a byte", i);
        whole.data[i] = (char)(was ^ (1 << (i % 8)));
        write_cubin(whole.data, whole.size);
        check_damaged("a bit", i);
        whole.data[i] = was;
    }
    ck_assert_uint_eq(cache_statistics(cache)->damaged, 2 * whole.size);
}

/* What this process has had in memory at a time, in KiB. */
static long peak(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

TEST(an_entry_whose_header_is_wrong_is_not_read)
{
    const off_t huge = (off_t)1 << 30;
    long before = peak();

    store_cubin();
    ck_assert_int_eq(truncate(path_of(CUBIN), huge), 0);
    check_damaged("a wrong size", 0);
    write_cubin("", 0);
    ck_assert_int_eq(truncate(path_of(CUBIN), huge), 0);
    check_damaged("a header of zeros", 0);
    ck_assert_int_lt(peak() - before, 200 << 10);
}

TEST(an_entry_of_another_length_is_a_miss_and_goes_away)
{
    struct cache_key key = key_of(CUBIN);
    OWNED(cache_value) value = {0};

    store_cubin();
    for (size_t i = 0; i < whole.size; i++) {
        write_cubin(whole.data, i);
        check_damaged("an end", i);
    }
    buffer_char(&whole, '\0');
    write_cubin(whole.data, whole.size);
    check_damaged("a byte more", whole.size);
    ck_assert_uint_eq(cache_statistics(cache)->damaged, whole.size);
    write_cubin(whole.data, whole.size - 1);
    ck_assert(cache_lookup(cache, CACHE_CHUNK, &key, &value));
}

TEST(what_is_damaged_is_kept_anew)
{
    store_number(5);
    files_save(path_of(5), "no entry", 8);
    ck_assert(!find_number(5));
    store_number(5);
    ck_assert(find_number(5));
    messages_expect("");
}

/* Opens the folder again, which is refused with these words. */
static void check_refused(const char *words)
{
    reopen();
    ck_assert_ptr_null(cache);
    check_said(words);
    ck_assert_uint_eq(diag_error_count(), 0);
}

TEST(a_folder_that_others_may_write_is_not_used)
{
    static const mode_t modes[] = {0720, 0702, 0777, 01777, 0770};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(folder, modes[i]);
        check_refused("others may write to it (mode ");
    }
    chmod(folder, 0755);
    reopen();
    ck_assert_ptr_nonnull(cache);
}

TEST(a_folder_of_another_user_is_not_used)
{
    if (geteuid() != 0) /* who may give it to another? test/jobs/cache.sh has a way */
        return;
    ck_assert_int_eq(chown(folder, 12345, (gid_t)-1), 0);
    check_refused("it belongs to user 12345, and must belong to user 0, who runs this link");
    ck_assert_int_eq(chown(folder, 0, (gid_t)-1), 0);
}

TEST(what_is_no_folder_is_a_warning)
{
    char name[5000];

    files_save(in_folder("file"), "", 0);
    request.folder = in_folder("file");
    check_refused("Cache folder '");
    request.folder = in_folder("file/inside");
    check_refused("Not a directory");
    ck_assert_int_eq(symlink("loop", in_folder("loop")), 0);
    request.folder = in_folder("loop");
    check_refused("Too many levels of symbolic links");
    ck_assert_int_eq(symlink("nowhere", in_folder("hanging")), 0);
    request.folder = in_folder("hanging");
    check_refused("No such file or directory");
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    request.folder = name;
    check_refused("File name too long");
    request.folder = folder;
}

TEST(a_folder_is_made_with_all_that_leads_to_it)
{
    struct stat status;

    request.folder = in_folder("a/b//c/");
    umask(0);
    reopen();
    ck_assert_ptr_nonnull(cache);
    store_number(3);
    ck_assert(find_number(3));
    ck_assert_int_eq(stat(in_folder("a/b/c"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
}

TEST(an_entry_that_others_may_write_is_not_believed)
{
    store_number(4);
    chmod(path_of(4), 0620);
    ck_assert(!find_number(4));
    ck_assert(!is_there(path_of(4)));
}

TEST(a_shelf_that_others_may_write_is_not_used)
{
    char shelf[256];

    store_number(4);
    strcpy(shelf, path_of(4));
    *strrchr(shelf, '/') = '\0';
    chmod(shelf, 0777);
    ck_assert(!find_number(4));
    ck_assert(is_there(path_of(4)));
    store_number(4);
    cache_finish(cache);
    check_said("Could not write to cache folder '");
}

/* What stands in the place of an entry: made by `make` at `path`. */
static void make_link(const char *path)
{
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
}
static void make_fifo(const char *path)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
}
static void make_folder(const char *path)
{
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

TEST_LOOP(what_is_no_file_is_no_entry, 3)
{
    static void (*const make[])(const char *) = {make_link, make_fifo, make_folder};

    store_number(6);
    ck_assert_int_eq(unlink(path_of(6)), 0);
    make[_i](path_of(6));
    ck_assert(!find_number(6));
    store_number(6);
    cache_finish(cache);
    if (make[_i] == make_folder)
        check_said("Is a directory");
    else
        ck_assert(find_number(6) && *messages_said() == '\0');
}

TEST(the_first_failure_to_write_is_the_only_warning)
{
    struct cache_key key = key_of(1);
    char entry[ENTRY_NAME_SIZE];

    folder_entry(&key, entry);
    entry[2] = '\0'; /* the subfolder's name */
    files_save(in_folder(entry), "", 0);
    store_number(1);
    store_number(2);
    ck_assert(!find_number(2));
    cache_finish(cache);
    check_said("minilink warning : Could not write to cache folder '");
    ck_assert_uint_eq(cache_statistics(cache)->kinds[CACHE_CHUNK].stored, 0);
}

TEST(a_reason_to_give_up_is_told_once)
{
    cache_give_up(cache, "'%s' is gone", "it");
    check_said("' is not used: 'it' is gone\n");
    cache_give_up(cache, "'%s' is gone", "another");
    messages_expect("");
}

/* Makes a file of `size` bytes that was last used so many seconds ago. */
static void make_old(const char *path, time_t seconds, off_t size)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert(size < 0 || ftruncate(fd, size) == 0);
    close(fd);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Entries 1 to `count`, the i-th unused for i days and an hour, of `size` bytes each. */
static void make_entries(int count, off_t size)
{
    for (int i = 1; i <= count; i++) {
        store_number((uint64_t)i);
        make_old(path_of((uint64_t)i), i * DAY + HOUR, size);
    }
}

static int count_entries(int count)
{
    int left = 0;

    for (int i = 1; i <= count; i++)
        left += is_there(path_of((uint64_t)i));
    return left;
}

static void prune(const char *policy)
{
    char error[CACHE_POLICY_ERROR_SIZE];

    ck_assert(cache_policy_read(&request.policy, policy, error));
    reopen();
    cache_finish(cache);
}

#define BARE "cache_size=0%:prune_after=0s:prune_interval=0s"

static const struct {
    const char *policy;
    int left; /* of ten entries of 1000 bytes, the youngest */
} prunings[] = {
    {BARE, 10},
    {BARE ":cache_size_files=4", 4},
    {BARE ":cache_size_files=0", 10},
    {BARE ":cache_size_bytes=5000", 5},
    {BARE ":cache_size_bytes=4999", 4},
    {BARE ":cache_size_bytes=1", 0},
    {BARE ":cache_size_bytes=8k:cache_size_files=9", 8},
    {BARE ":prune_after=180h", 7},
    {BARE ":prune_after=1w:cache_size_files=9", 6},
    {"prune_interval=0s", 6},
    {BARE ":cache_size=100%", 10},
};

TEST_LOOP(the_oldest_go_until_the_policy_is_kept, COUNT(prunings))
{
    make_entries(10, 1000);
    prune(prunings[_i].policy);
    ck_assert_int_eq(count_entries(10), prunings[_i].left);
    ck_assert_int_eq(count_entries(prunings[_i].left), prunings[_i].left);
    ck_assert_uint_eq(cache_statistics(cache)->pruned, 10 - (uint64_t)prunings[_i].left);
    ck_assert_uint_eq(cache_statistics(cache)->pruned_bytes,
                      1000 * (10 - (uint64_t)prunings[_i].left));
}

/* Whether no file can be removed, as in a folder that only another user may write. */
static bool removes_nothing;

int unlinkat(int folder_fd, const char *name, int flags)
{
    return removes_nothing ? -1 : (int)syscall(SYS_unlinkat, folder_fd, name, flags);
}

TEST(only_what_has_gone_is_counted)
{
    make_entries(2, 1000);
    removes_nothing = true;
    prune(BARE ":prune_after=1h");
    removes_nothing = false;
    ck_assert_int_eq(count_entries(2), 2);
    ck_assert_uint_eq(cache_statistics(cache)->pruned, 0);
    ck_assert_uint_eq(cache_statistics(cache)->pruned_bytes, 0);
}

TEST(an_entry_that_is_used_is_young_again)
{
    make_entries(10, -1);
    ck_assert(find_number(9));
    prune(BARE ":cache_size_files=2");
    ck_assert(find_number(9) && find_number(1) && !find_number(2));
}

static void prune_hourly(int left)
{
    prune(BARE ":cache_size_files=1:prune_interval=1h");
    ck_assert_int_eq(count_entries(3), left);
}

TEST(it_is_looked_after_when_the_interval_has_passed)
{
    make_entries(3, -1);
    prune_hourly(3); /* the first time starts the clock */
    make_old(in_folder("pruned"), HOUR / 2, 0);
    prune_hourly(3);
    make_old(in_folder("pruned"), HOUR + 1, 0);
    prune_hourly(1);
    make_entries(3, -1);
    prune_hourly(3);
    make_old(in_folder("pruned"), -DAY, 0); /* the clock was set back */
    prune_hourly(1);
}

TEST(nobody_waits_for_the_one_who_prunes)
{
    int fd = open(in_folder("pruned"), O_RDWR | O_CREAT, 0600);

    make_entries(3, -1);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    prune(BARE ":cache_size_files=1");
    ck_assert_int_eq(count_entries(3), 3);
    close(fd);
    prune(BARE ":cache_size_files=1");
    ck_assert_int_eq(count_entries(3), 1);
}

/* A killed link's goes after an hour; one that may still be written stays, and so does whatever is
 * no cache's. */
TEST(what_is_half_written_goes_and_what_is_foreign_stays)
{
    static const struct {
        const char *name;
        int hours;
        bool stays;
    } files[] = {
        {"ab/0123456789abcdef0123456789abcd.0123456789abcdef", 2, false},
        {"ab/0123456789abcdef0123456789abce.0123456789abcdef", 0, true},
        {"ab/0123456789abcdef0123456789abcd", 2, false},
        {"ab/0123456789abcdef0123456789abcd.0123456789abcdeg", 2, true},
        {"ab/0123456789abcdef0123456789abcd.0123456789abcdef0", 2, true},
        {"ab/0123456789ABCDEF0123456789ABCD", 2, true},
        {"ab/notes", 2, true},
        {"notes", 2, true},
        {"xy/0123456789abcdef0123456789abcd", 2, true},
    };

    make_folder(in_folder("ab"));
    make_folder(in_folder("xy"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_old(in_folder(files[i].name), files[i].hours * HOUR, 0);
    prune(BARE ":prune_after=1h");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_msg(is_there(in_folder(files[i].name)) == files[i].stays, "%s", files[i].name);
    ck_assert_uint_eq(cache_statistics(cache)->pruned, 2);
}

#define THREADS 8
#define ROUNDS  200

/* Keeps and finds the same few values as all the others, some of which are damaged meanwhile. */
static void *work(void *argument)
{
    const uint64_t *seed = argument;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t number = (i * 7 + *seed) % 5;
        struct cache_key key = key_of(number);
        OWNED(cache_value) value = {0};

        if (!cache_lookup(cache, CACHE_CHUNK, &key, &value)) {
            cache_store(cache, CACHE_CHUNK, &key, &sample);
            continue;
        }
        if (memcmp(value.parts[0].data, sample.parts[0].data, sample.parts[0].size) != 0)
            return argument;
    }
    return NULL;
}

TEST(threads_share_it)
{
    static uint64_t seeds[THREADS];
    const struct cache_statistics *counts;
    pthread_t threads[THREADS];
    bool ok = true;

    for (size_t i = 0; i < THREADS; i++) {
        seeds[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &seeds[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        ok &= result == NULL;
    }
    ck_assert(ok);
    counts = cache_statistics(cache);
    ck_assert_uint_eq(counts->kinds[CACHE_CHUNK].hits + counts->kinds[CACHE_CHUNK].misses,
                      THREADS * ROUNDS);
    ck_assert_uint_eq(counts->kinds[CACHE_CHUNK].misses, counts->kinds[CACHE_CHUNK].stored);
    ck_assert_uint_eq(counts->damaged, 0);
}

/* Whether a signal's handler runs before an entry gets its name. */
static bool is_interrupted;

/* In place of libc's. */
int renameat(int from, const char *name, int to, const char *entry)
{
    if (is_interrupted) {
        ck_assert(is_there(in_folder(name)));
        leftover_remove_all();
        ck_assert(!is_there(in_folder(name)));
    }
    return (int)syscall(SYS_renameat2, from, name, to, entry, 0);
}

/* Last, as nothing can be kept any more in this process. */
TEST(a_signal_removes_what_is_being_written)
{
    is_interrupted = true;
    store_number(1);
    ck_assert(!is_there(path_of(1)));
    is_interrupted = false;
    reopen();
    store_number(1);
    ck_assert(!is_there(path_of(1)));
}
