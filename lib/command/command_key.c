/* command_key.c: two lists of options; what is in neither, a new one among them, has no key. */
#include "command/command_key.h"

#include <string.h>

/* What comes out, or what is said, may depend on them. */
const char *const command_key_counted[] = {
    "arch",
    "relocatable-link",
    "machine",
    "host-ccbin",
    "link-time-opt",
    "dlto",
    "split-compile-extended",
    "split-compile",
    "maxrregcount",
    "Xptxas",
    "Xnvvm",
    "Ofast-compile",
    "debug",
    "lineinfo",
    "use-host-info",
    "ignore-host-info",
    "kernels-used",
    "variables-used",
    "keep-system-libraries",
    "preserve-relocs",
    "verbose",
    "vv",
    "disable-warnings",
    "disable-infos",
    "warning-as-error",
    "report-arch",
    "suppress-arch-warning",
    "suppress-stack-size-warning",
    "cpu-arch",
    "device-stack-protector",
    "extra-warnings",
    "suppress-debug-info",
    "shared",
    "assembler",
    "output-abi",
    "binary-kind",
    "lto-source",
    "lto-jobs",
    "consensus",
    "chunks",
    "minimum-chunk",
    "split-policy",
    "distributor",
    "distributor-arg",
    "distributor-tool",
    "threads",
    "memory-limit",
    "decompression-limit",
    "keep-going",
    "no-demangle",
    NULL,
};

/* The link finds out by itself what these lead to; or they say how it runs, how messages look, and
 * where what it writes goes. */
const char *const command_key_ignored[] = {
    "output-file",
    "library",
    "library-path",
    "options-file",
    "nvvmpath",
    "ptxas",
    "cuda-path",
    "nvjitlink",
    "assembler-launcher",
    "assembler-timeout",
    "lto-timeout",
    "distributor-timeout",
    "progress",
    "worker-stack",
    "concurrency",
    "jobserver",
    "register-link-binaries",
    "dependency-file",
    "dependency-target",
    "diagnostics-format",
    "color",
    "error-limit",
    "cache-dir",
    "no-cache",
    "cache-policy",
    "cache-stats",
    NULL,
};

static bool has(const char *const *names, struct text name)
{
    while (*names && !text_equal(text_of(*names), name))
        names++;
    return *names != NULL;
}

/* Adds the word when it counts. False when that is not known. */
static bool add_word(struct key *key, const char *word)
{
    struct text name;

    if (strncmp(word, "--", 2) != 0)
        return true;
    name = (struct text){word + 2, strcspn(word + 2, "=")};
    if (has(command_key_counted, name))
        key_string(key, word);
    else if (!has(command_key_ignored, name))
        return false;
    return true;
}

bool command_key(struct cache_key *result, const struct words *words)
{
    struct key key;
    bool ok = true;

    key_begin(&key, "command");
    for (size_t i = 0; i < words->count && ok; i++)
        ok = add_word(&key, words->list[i]);
    *result = key_end(&key);
    return ok;
}
