/* frames.h: .debug_frame, the descriptions of functions' stack frames.
 *
 * The section is a row of entries in 64-bit DWARF: u32 0xffffffff, u64 length of what follows, u64
 * that is all ones in a common entry (CIE) and else, in one function's (FDE), the place of its CIE;
 * behind it stands the function's address. ptxas writes a CIE before every FDE (measured). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define FRAMES_CIE_POINTER 12u /* offsets in an FDE */
#define FRAMES_ADDRESS     20u
#define FRAMES_LEAST       48u /* bytes that a function's description has */

/* A function's: a CIE and its FDE. Offsets in the section. */
struct frame {
    size_t begin;
    size_t fde;
    size_t end;
    uint64_t cie; /* where the FDE says that its CIE is */
};

/* The description at *at, which becomes the place behind it. False when entries stand there in
 * another order, or damaged. */
bool frames_next(struct bytes data, size_t *at, struct frame *frame);
