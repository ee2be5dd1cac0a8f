/* select.h: which of the entries of a fatbin, all of the same code, is linked for the target. */
#pragma once

#include "input/member.h"

/* The end of the group that begins at member `begin`: the members of a group are adjacent. */
size_t select_group_end(const struct members *members, size_t begin);

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
