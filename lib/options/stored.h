/* stored.h: the options of ptxas that a compiler stored with PTX in a fatbin.
 *
 * Measured on nvcc 13.0 and 13.5: -maxrregcount, the words of -Xptxas, -lineinfo, -G, -fmad=false,
 * -split-compile and -device-stack-protector are stored, after `--compile-only`. nvlink 11.8 to
 * 13.5 cuts the string at blanks and tabs, knows no quotes, and assembles the member with its words
 * before those of the command line. LTO-IR has options of another form (options/consensus.h). */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
#include "base/text.h"

/* Words that change only tables of lines and messages. They do not keep PTX from being assembled
 * together, in one text. */
enum stored_remark {
    STORED_LINE_INFO = 1,
    STORED_VERBOSE = 2,
    STORED_NO_WARNINGS = 4,
};

struct stored_options {
    const char **words; /* all others, but --compile-only: the link decides about that; end with
                           NULL */
    size_t count;       /* of the words */
    unsigned remarks;   /* set of enum stored_remark */
};

/* Reads a member's string; a NUL ends it. The words are in `arena`, with room for the remarks'. */
struct stored_options stored_read(struct arena *arena, struct text options);

/* Whether both make the same code. */
bool stored_are_equal(const struct stored_options *a, const struct stored_options *b);

/* Options for PTX with `a` and PTX with `b`, which are equal, in one text: with tables of lines and
 * -v's messages if either has them, without warnings if both have none. */
void stored_unite(struct stored_options *a, const struct stored_options *b);

/* Appends the remarks' words; then the list is complete. */
void stored_finish(struct stored_options *options);
