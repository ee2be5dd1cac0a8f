/* embedded.c: the table of embedded options, and a number reader that is atoi on a view.
 *
 * The strings come from nvcc's command line for cicc ("-split-compile 2 -ftz=0 -prec_div=1 ") and
 * are not split into words by nvlink: whatever follows the option's spelling is its number, and
 * what precedes it does not matter, so "x-split-compile 2" counts too. */
#include "options/embedded.h"

#include <string.h>

struct spelling {
    const char *name;     /* as messages have it: nvcc's spelling */
    const char *spelling; /* as the string has it: cicc's spelling */
    bool has_value;
};

static const struct spelling spellings[EMBEDDED_COUNT] = {
    [EMBEDDED_LINE_INFO] = {"-lineinfo", "-generate-line-info", false},
    [EMBEDDED_MAXREG] = {"-maxrregcount", "-maxreg ", true},
    [EMBEDDED_FTZ] = {"-ftz", "-ftz=", true},
    [EMBEDDED_PREC_DIV] = {"-prec-div", "-prec_div=", true},
    [EMBEDDED_PREC_SQRT] = {"-prec-sqrt", "-prec_sqrt=", true},
    [EMBEDDED_FMAD] = {"-fmad", "-fmad=", true},
    [EMBEDDED_SPLIT_COMPILE] = {"-split-compile", "-split-compile ", true},
};

/* (int)strtol(): the value sticks at the ends of 64 bits before it is cut to 32. */
static int32_t read_number(struct text text)
{
    size_t at = 0;
    bool negative = false;
    int64_t value = 0;

    while (at < text.size && text_is_space(text.data[at]))
        at++;
    if (at < text.size && (text.data[at] == '-' || text.data[at] == '+'))
        negative = text.data[at++] == '-';
    for (; at < text.size && text_is_digit(text.data[at]); at++) {
        int digit = text.data[at] - '0';

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            value =
                INT64_MIN; /* digits are gathered below zero, where there is room for both ends */
            break;
        }
    }
    if (!negative)
        value = value == INT64_MIN ? INT64_MAX : -value;
    return (int32_t)(uint32_t)(uint64_t)value;
}

bool embedded_find(struct text options, enum embedded_option option, int32_t *value)
{
    struct text wanted = text_of(spellings[option].spelling);
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
    if (spellings[option].has_value)
        *value = read_number((struct text){found, options.size - (size_t)(found - options.data)});
    return true;
}

const char *embedded_name(enum embedded_option option)
{
    return spellings[option].name;
}

const char *embedded_spelling(enum embedded_option option)
{
    return spellings[option].spelling;
}
