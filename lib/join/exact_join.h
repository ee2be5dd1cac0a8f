/* exact_join.h: the cubins of a program's chunks, each assembled as a whole program, become the one
 * that the assembler makes of the program at once, byte for byte.
 *
 * In whole-program mode a kernel's section holds what it calls, and only offsets in the banks of
 * constants depend on the rest of the program. Every chunk has all variables and its share of the
 * kernels; this is no linking but putting lists together: sections, symbols, strings, records,
 * frames. ptxas 13.0 compiles the last kernel of the text first (measured), and names sections and
 * symbols in the order in which it meets them: a kernel's own beside each other, those of the
 * program after the first kernel's, others where they are needed first. So the order of the whole
 * can be told from the order in each chunk; minilink-internals(7), Joining whole programs, has the
 * rules.
 *
 * What was measured on ptxas 13.0.88 for sm_75 to sm_120. A chunk that does not follow the rules is
 * answered with EXACT_JOIN_UNSUPPORTED, so that the program can be assembled in one piece: what
 * describes types and variables (-g), which is one table over all functions, and whatever the rules
 * do not know.
 *
 * What the join cannot see is up to the caller: kernels that may call through pointers have to be
 * in one chunk with all functions whose address is taken, and a chunk's kernels must call the
 * functions of the driver through the table that the whole program has (left_out). */
#pragma once

#include <stddef.h>

#include "base/buffer.h"
#include "base/text.h"

/* A chunk's cubin, of which no byte is trusted. The kernels in `left_out` closed its text so that
 * the table of addresses in bank 4 is the program's; they are not part of the program. */
struct exact_join_chunk {
    struct bytes cubin;
    const struct text *left_out;
    size_t left_out_count;
};

struct exact_join_request {
    const struct exact_join_chunk *chunks;
    size_t count;
    const struct text *kernels; /* all of the program's, in the order of its text */
    size_t kernel_count;
    size_t line_count; /* with -lineinfo: each chunk's text begins with so many lines, each the
                          program's or empty; 0 = there must be no line tables */
};

enum exact_join_outcome {
    EXACT_JOIN_OK,
    EXACT_JOIN_DIFFERS,     /* chunks disagree on what they share, or one is damaged */
    EXACT_JOIN_UNSUPPORTED, /* something in a chunk depends on the whole in an unknown way */
};

/* Where and why chunks were not joined. The name lies in a chunk's cubin; `what` is static: a
 * clause that goes behind the section's name. */
struct exact_join_difference {
    size_t chunk;
    struct text section; /* empty: the chunk as such */
    const char *what;
};

/* Appends the whole program's cubin to `image`. A chunk that is alone and has nothing to leave out
 * is copied. Reports nothing; *why is set unless the outcome is EXACT_JOIN_OK, and `image` is as it
 * was then. Raises LINK_NO_MEMORY. Takes time and memory in proportion to the chunks' sizes. */
enum exact_join_outcome exact_join(struct buffer *image, const struct exact_join_request *request,
                                   struct exact_join_difference *why);
