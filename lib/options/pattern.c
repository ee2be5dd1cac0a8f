/* pattern.c: the C library's regular expressions, which read up to a NUL or in bounds. */
#include "options/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag.h"

bool pattern_compile(struct pattern *pattern, struct text text, const char *option)
{
    char *copy = memory_copy_string(text.data, text.size);
    int error = regcomp(&pattern->expression, copy, REG_EXTENDED | REG_NOSUB);
    char why[128];

    free(copy);
    if (error == 0)
        return true;
    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    regerror(error, &pattern->expression, why, sizeof why);
    diag_fatal("'%.*s' (%s) is no regular expression: %s", TEXT_ARG(text), option, why);
    return false;
}

bool pattern_matches(const struct pattern *pattern, struct text name)
{
    regmatch_t bounds = {.rm_so = 0, .rm_eo = (regoff_t)name.size};
    int error = regexec(&pattern->expression, name.data, 1, &bounds, REG_STARTEND);

    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    return error == 0;
}

void pattern_free(struct pattern *pattern)
{
    regfree(&pattern->expression);
}
