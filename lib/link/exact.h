/* exact.h: joins the chunks of an exact split to one program.
 *
 * Each chunk's cubin is a whole program with a share of the kernels; joined, they are what the
 * assembler would have made of all kernels. The parts that they share must be the same in all of
 * them, which is checked; if they are not, the program is assembled in one piece. The first that
 * ends is tried alone, so that this costs little. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "base/buffer.h"

/* Joins `cubins`, those of `chunks`, into the program's, in `image`. False when they do not fit
 * together; *why then says how ("chunk 2 has another .nv.constant3"), in `arena`. */
bool exact_make_program(struct buffer *image, const struct chunks *chunks,
                        const struct cubins *cubins, struct arena *arena, const char **why);

/* Whether the cubin of one of `chunks` is written in a form that can be joined; true where there is
 * no memory to tell. A pool's task may call it. */
bool exact_is_known(const void *chunks, struct bytes cubin);

/* Compares the program made of chunks with `whole`, which the assembler made of all kernels at once
 * (--verify-split). False, and an error that names the first section that differs. */
bool exact_verify(struct bytes program, struct bytes whole);
