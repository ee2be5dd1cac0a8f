/* Tests of --cache-policy: lld's grammar, its defaults, and what is wrong told apart. */
#include "base/text.h"
#include "cache/cache.h"
#include "suite.h"

#define WEEK UINT64_C(604800)

struct policy_case {
    const char *text;
    struct cache_policy expected;
};

static const struct policy_case policy_cases[] = {
    {"", {75, 0, 1000000, WEEK, 1200}},
    {"cache_size=50%", {50, 0, 1000000, WEEK, 1200}},
    {"cache_size=0%", {0, 0, 1000000, WEEK, 1200}},
    {"cache_size=100%", {100, 0, 1000000, WEEK, 1200}},
    {"cache_size_bytes=7", {75, 7, 1000000, WEEK, 1200}},
    {"cache_size_bytes=7k", {75, 7168, 1000000, WEEK, 1200}},
    {"cache_size_bytes=2m", {75, 2097152, 1000000, WEEK, 1200}},
    {"cache_size_bytes=2G", {75, UINT64_C(1) << 31, 1000000, WEEK, 1200}},
    {"cache_size_bytes=18446744073709551615", {75, UINT64_MAX, 1000000, WEEK, 1200}},
    {"cache_size_files=0", {75, 0, 0, WEEK, 1200}},
    {"prune_after=0s", {75, 0, 1000000, 0, 1200}},
    {"prune_after=90s:prune_interval=2m", {75, 0, 1000000, 90, 120}},
    {"prune_after=3h:prune_interval=0s", {75, 0, 1000000, 10800, 0}},
    {"prune_after=2d:prune_interval=1w", {75, 0, 1000000, 172800, WEEK}},
    {"cache_size=1%:", {1, 0, 1000000, WEEK, 1200}},
    {"cache_size=1%:cache_size=2%", {2, 0, 1000000, WEEK, 1200}},
    {"cache_size=75%:cache_size_bytes=2g:cache_size_files=9:prune_after=1w:prune_interval=20m",
     {75, UINT64_C(1) << 31, 9, WEEK, 1200}},
};

TEST_LOOP(a_policy_is_read, COUNT(policy_cases))
{
    const struct policy_case *row = &policy_cases[_i];
    struct cache_policy policy;
    char error[CACHE_POLICY_ERROR_SIZE];

    ck_assert_msg(cache_policy_read(&policy, row->text, error), "'%s'", row->text);
    ck_assert_uint_eq(policy.percent, row->expected.percent);
    ck_assert_uint_eq(policy.bytes, row->expected.bytes);
    ck_assert_uint_eq(policy.files, row->expected.files);
    ck_assert_uint_eq(policy.expiry, row->expected.expiry);
    ck_assert_uint_eq(policy.interval, row->expected.interval);
}

static const struct {
    const char *text, *error;
} wrong[] = {
    {"foo=1", "'foo' is no key; known are cache_size, cache_size_bytes, cache_size_files, "
              "prune_after and prune_interval"},
    {":", "'' is no key"},
    {"cache_size", "'' of 'cache_size' is not a percentage up to 100%"},
    {"cache_size=75", "'75' of 'cache_size' is not"},
    {"cache_size=101%", "'101%' of"},
    {"cache_size=%", "'%' of"},
    {"cache_size=\0055", "'\0055' of"},
    {"cache_size=5\005", "'5\005' of"},
    {"cache_size_bytes=5t", "'5t' of 'cache_size_bytes' is not a number of bytes, or one with"},
    {"cache_size_bytes=5kb", "'5kb' of"},
    {"cache_size_bytes=18446744073709551616", "'18446744073709551616' of"},
    {"cache_size_bytes=99999999999999999g", "'99999999999999999g' of"},
    {"cache_size_files=5k", "'5k' of 'cache_size_files' is not a number"},
    {"cache_size_files=-1", "'-1' of"},
    {"prune_after=5", "'5' of 'prune_after' is not a number with s, m, h, d or w behind it"},
    {"prune_after=s", "'s' of"},
    {"prune_after=", "'' of"},
    {"prune_after=9223372036854775807w", "'9223372036854775807w' of"},
    {"prune_interval=1y:prune_after=1s", "'1y' of 'prune_interval' is not"},
};

TEST_LOOP(what_is_no_policy_is_told, COUNT(wrong))
{
    struct cache_policy policy = {.percent = 12345};
    char error[CACHE_POLICY_ERROR_SIZE] = "";

    ck_assert_msg(!cache_policy_read(&policy, wrong[_i].text, error), "'%s'", wrong[_i].text);
    ck_assert_msg(text_starts(text_of(error), text_of(wrong[_i].error)), "'%s': %s", wrong[_i].text,
                  error);
    ck_assert_uint_eq(policy.percent, 12345);
}
