/* internal.h: the steps of members_select(): which of the entries of a fatbin, all of the same
 * code, is linked for the target (select.c); and, by the architectures that inputs have, what the
 * target is, and what is missing (architectures.c). */
#pragma once

#include "input/member.h"

/* The end of the members that come from the file of member `begin`. */
size_t select_file_end(const struct members *members, size_t begin);

/* True for PTX, SASS, LTO-IR and LLVM bitcode. */
bool select_is_known_kind(const struct member *member);

/* True for code that could take part on some target: of a known kind, 64-bit, and no linked cubin.
 * Looks into the payload of SASS, so it costs inflating its first block. */
bool select_is_usable(const struct member *member);

/* True for SASS that is linked already (ET_EXEC). */
bool select_is_linked(const struct member *member);

/* Gives every member of every group its role and reason for members->arch, and sets the counts.
 * False when code that is needed cannot be used; reported. */
bool select_roles(struct members *members, const struct member_request *request);

/* The same for a virtual target: every PTX that can be compiled for it takes part. */
void select_virtual(struct members *members);

/* Sets members->arch to the one architecture for which every fatbin and raw file with code has
 * SASS, PTX or LTO-IR of exactly that number and suffix. False, and an error that lists the choice,
 * when there is none or several. */
bool architectures_find_target(struct members *members);

/* After select_roles: warns about each file that has code, but nothing for the target, once; for
 * archives only when no member has any, as nvlink is silent about single members of archives. Code
 * that is linked already gets a warning of its own. */
void architectures_report_missing(const struct members *members, bool suppress_arch_warning);
