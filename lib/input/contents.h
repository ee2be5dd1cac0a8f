/* contents.h: what the inputs have code for: finding the target, and saying what is missing. */
#pragma once

#include <stdbool.h>

#include "input/member.h"

/* Sets members->arch to the one architecture for which every fatbin and raw file with code has
 * SASS, PTX or LTO-IR of exactly that number and suffix. False, and an error that lists what there
 * is, when there is none or several. */
bool contents_find_target(struct members *members);

/* After select_roles: warns about each file that has code, but nothing for the target, once; for
 * archives only when no member has any, as nvlink is silent about single members of archives. Code
 * that is linked already gets a warning of its own. */
void contents_report_missing(const struct members *members, bool suppress_arch_warning);

/* For each of `count` names that nothing defines: a note on the host object that does define it but
 * was compiled without -dc, so that it takes no part, or NULL. Where there are such objects, and
 * none is seen to define any of them, the last name's note names one: what it does not use itself
 * its compiler has removed. In `arena`; `members` may be NULL. Each object is read once. */
const char **contents_explain_undefined(const struct members *members, const struct text *names,
                                        size_t count, struct arena *arena);
