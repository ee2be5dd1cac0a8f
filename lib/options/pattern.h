/* pattern.h: extended regular expressions of POSIX, for names of kernels. */
#pragma once

#include <regex.h>
#include <stdbool.h>

#include "base/text.h"

struct pattern {
    regex_t expression;
};

/* Reads the expression. False, and a fatal diagnostic that names `option`, when it is invalid;
 * there is nothing to free then. Raises LINK_NO_MEMORY. */
bool pattern_compile(struct pattern *pattern, struct text text, const char *option);

/* True when the expression matches `name` or a part of it. Raises LINK_NO_MEMORY. */
bool pattern_matches(const struct pattern *pattern, struct text name);

void pattern_free(struct pattern *pattern);
