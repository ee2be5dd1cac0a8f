/* options_key.c: two lists of options; what is in neither, a new one among them, has no key. */
#include "command/options_key.h"

#include <string.h>

#include "command/option_table.h"

/* What comes out, or what is said, may depend on them. */
const char *const options_key_counted[] = {
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
    "undefined",
    "wrap",
    "defsym",
    "strip-debug",
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
    "fit-registers",
    "icf",
    "binary-kind",
    "lto-source",
    "lto-jobs",
    "lto-O",
    "lto-newpm-passes",
    "Xllvm",
    "chunks",
    "minimum-chunk",
    "split-policy",
    "split-mode",
    "verify-split",
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
const char *const options_key_ignored[] = {
    "output-file",
    "library",
    "library-path",
    "options-file",
    "nvvmpath",
    "ptxas",
    "cuda-path",
    "nvjitlink",
    "llvm",
    "timeout",
    "progress",
    "jobserver",
    "register-link-binaries",
    "dependency-file",
    "dependency-target",
    "diagnostics-format",
    "color-diagnostics",
    "error-limit",
    "cache-dir",
    "no-cache",
    "cache-policy",
    "cache-stats",
    NULL,
};

static bool has(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Adds the option when it counts. False when that is not known. */
static bool add_option(struct key *key, const struct given_option *given)
{
    if (has(options_key_counted, given->row->name)) {
        key_string(key, given->row->name);
        key_string(key, given->value);
        return true;
    }
    return has(options_key_ignored, given->row->name);
}

bool options_key(struct cache_key *result, const struct given_option *given, size_t count)
{
    struct key key;
    bool ok = true;

    key_begin(&key, "command");
    for (size_t i = 0; i < count && ok; i++)
        ok = add_option(&key, &given[i]);
    *result = key_end(&key);
    return ok;
}
