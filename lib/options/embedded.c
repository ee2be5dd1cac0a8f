/* embedded.c: the table of embedded options.
 *
 * The strings come from nvcc's command line for cicc ("-split-compile 2 -ftz=0 -prec_div=1 ") and
 * are not split into words by nvlink: whatever follows the option's spelling is its number, and
 * what precedes it does not matter, so "x-split-compile 2" counts too. */
#include "options/consensus.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const struct embedded_row embedded_table[EMBEDDED_COUNT] = {
    [EMBEDDED_LINE_INFO] = {"-lineinfo", "-generate-line-info", false},
    [EMBEDDED_MAXREG] = {"-maxrregcount", "-maxreg ", true},
    [EMBEDDED_FTZ] = {"-ftz", "-ftz=", true},
    [EMBEDDED_PREC_DIV] = {"-prec-div", "-prec_div=", true},
    [EMBEDDED_PREC_SQRT] = {"-prec-sqrt", "-prec_sqrt=", true},
    [EMBEDDED_FMAD] = {"-fmad", "-fmad=", true},
    [EMBEDDED_SPLIT_COMPILE] = {"-split-compile", "-split-compile ", true},
};

/* As atoi(), on a NUL-terminated copy. */
static int32_t read_embedded_number(struct text text)
{
    char *copy = memory_copy_string(text.data, text.size);
    long value = strtol(copy, NULL, 10);

    free(copy);
    return (int32_t)value;
}

bool embedded_find(struct text options, enum embedded_option option, int32_t *value)
{
    struct text wanted = text_of(embedded_table[option].spelling);
    const char *end, *found;

    if (options.size == 0)
        return false;
    end = memchr(options.data, '\0', options.size);
    if (end)
        options.size = (size_t)(end - options.data);
    found = memmem(options.data, options.size, wanted.data, wanted.size);
    if (!found)
        return false;
    found += wanted.size;
    *value = 1;
    if (embedded_table[option].has_value)
        *value = read_embedded_number(
            (struct text){found, options.size - (size_t)(found - options.data)});
    return true;
}
