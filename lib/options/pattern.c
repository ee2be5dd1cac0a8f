/* pattern.c: uses the C library's regular expressions, which take NUL-terminated strings. */
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
    return diag_fatal("'%.*s' (%s) is no regular expression: %s", TEXT_ARG(text), option, why);
}

bool pattern_matches(const struct pattern *pattern, struct text name)
{
    char *copy = memory_copy_string(name.data, name.size);
    int error = regexec(&pattern->expression, copy, 0, NULL, 0);

    free(copy);
    if (error == REG_ESPACE)
        context_raise(LINK_NO_MEMORY);
    return error == 0;
}

void pattern_free(struct pattern *pattern)
{
    regfree(&pattern->expression);
}
