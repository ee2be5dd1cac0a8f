/* entries.h: the kernels that -Xptxas -e names.
 *
 * ptxas looks for them in the one module that it is given. A chunk has only some of them, so the
 * link selects them itself. Measured on nvlink: under -lto, where all code comes from LTO-IR,
 * kernels that are not named are dropped, split or not; nothing is dropped where the code is
 * relocatable. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/text.h"

/* An extended regular expression of POSIX, and its text. */
struct entry_pattern {
    struct text text;
    regex_t expression;
};

struct entry_selection {
    struct text *names; /* each once or several times, as given */
    size_t count, capacity;
    struct entry_pattern *patterns; /* of minilink's own --entry-pattern, and -E */
    size_t pattern_count, pattern_capacity;
    const char *const *others; /* the words that are not about entries; ends with NULL */
    bool is_compile_only;      /* -c is among them */
    bool is_patch;             /* -astoolspatch: functions alone, which nothing calls */
    bool is_extensible;        /* -ewp: exported symbols stay */
};

/* Reads the assembler's options `words` (ends with NULL, or is NULL): --entry, and -e, with a list
 * of names after `=` or in the next word, and --entry-pattern, and -E, with a list of expressions.
 * The result refers to the words, and to `arena`; entries_free frees the rest. False, and an error,
 * when an expression is invalid. */
bool entries_read(struct entry_selection *selection, struct arena *arena, const char *const *words);

/* True when the pattern matches the name or a part of it. Raises LINK_NO_MEMORY. */
bool entries_pattern_matches(const struct entry_pattern *pattern, struct text name);

/* True when some pattern matches the kernel's name. */
bool entries_match(const struct entry_selection *selection, struct text kernel);

void entries_free(struct entry_selection *selection);
