/* fuzz_policy.c: a --cache-policy. One that is read can be written down and read again. */
#include <inttypes.h>
#include <stdio.h>

#include "cache/cache.h"
#include "fuzz.h"

static void check(const struct cache_policy *policy)
{
    struct cache_policy again;
    char text[256], error[CACHE_POLICY_ERROR_SIZE];

    snprintf(text, sizeof text,
             "cache_size=%" PRIu64 "%%:cache_size_bytes=%" PRIu64 ":cache_size_files=%" PRIu64
             ":prune_after=%" PRIu64 "s:prune_interval=%" PRIu64 "s",
             policy->percent, policy->bytes, policy->files, policy->expiry, policy->interval);
    if (policy->percent > 100 || !cache_policy_read(&again, text, error) ||
        again.percent != policy->percent || again.bytes != policy->bytes ||
        again.files != policy->files || again.expiry != policy->expiry ||
        again.interval != policy->interval)
        abort();
}

static void fuzz(struct bytes rest)
{
    char *text = fuzz_string(rest);
    struct cache_policy policy = {.percent = 12345};
    char error[CACHE_POLICY_ERROR_SIZE] = "";

    if (cache_policy_read(&policy, text, error))
        check(&policy);
    else if (policy.percent != 12345 || !*error || !memchr(error, '\0', sizeof error))
        abort();
}
