/* embedded.h: reading one member's option string as nvlink reads it.
 *
 * Measured: a substring search, the first match counts; `-split-compile ` and `-maxreg ` with one
 * blank, `-ftz=`, `-prec_div=`, `-prec_sqrt=`, `-fmad=` with an equals sign, then a number as atoi
 * reads it (white space, sign, digits), cut to 32 bits: "2x" is 2, "abc" is 0, "4294967298" is 2,
 * and "99999999999999999999" is -1, the cut end of the 64-bit range. `-generate-line-info` has no
 * value. A NUL in the string ends it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "options/consensus.h"

/* Looks for `option` in `options`. True when it is there, with its number in *value (1 for
 * -generate-line-info). Never reads beyond options.size. */
bool embedded_find(struct text options, enum embedded_option option, int32_t *value);

/* The option's name as nvlink prints it in messages: "-maxrregcount", "-prec-div". */
const char *embedded_name(enum embedded_option option);

/* The option's spelling in the string: "-maxreg ", "-prec_div=". */
const char *embedded_spelling(enum embedded_option option);
