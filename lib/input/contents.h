/* contents.h: the architectures of the inputs: finding the target, and reporting missing code. */
#pragma once

#include "input/member.h"

/* Sets members->arch to the one architecture for which every fatbin and raw file with code has
 * SASS, PTX or LTO-IR of exactly that number and suffix. False, and an error that lists the choice,
 * when there is none or several. */
bool contents_find_target(struct members *members);

/* After select_roles: warns about each file that has code, but nothing for the target, once; for
 * archives only when no member has any, as nvlink is silent about single members of archives. Code
 * that is linked already gets a warning of its own. */
void contents_report_missing(const struct members *members, bool suppress_arch_warning);

/* For each of `count` undefined names: a note on the host object that defines it but takes no part,
 * since it was compiled without -dc; or NULL. If there are such objects, but none is seen to define
 * any of the names, the last name's note names one: the compiler removes what an object does not
 * use itself. In `arena`; `members` may be NULL. Each object is read once. */
const char **contents_explain_undefined(const struct members *members, const struct text *names,
                                        size_t count, struct arena *arena);
