/* frames.h: .debug_frame, the descriptions of functions' stack frames.
 *
 * The section is a sequence of entries in 64-bit DWARF: u32 0xffffffff, u64 length of the rest,
 * then a u64 that is all ones in a common entry (CIE). In a function's entry (FDE) it is the offset
 * of the CIE, and the function's address follows. ptxas writes a CIE before every FDE (measured).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define FRAMES_CIE_POINTER 12u /* offsets in an FDE */
#define FRAMES_ADDRESS     20u
#define FRAMES_LEAST       48u /* smallest size of a function's CIE and FDE together */

/* A function's CIE and FDE. Offsets in the section. */
struct frame {
    size_t begin;
    size_t fde;
    size_t end;
    uint64_t cie; /* offset of the CIE according to the FDE */
};

/* Reads the CIE and FDE at *at and advances *at past them. False if the entries there are in
 * another order or damaged. */
bool frames_next(struct bytes data, size_t *at, struct frame *frame);
